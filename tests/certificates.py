"""Certificates for TLS servers on this machine: a signer of one's own, and certificates with chosen faults."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_DAY = datetime.timedelta(days=1)


@dataclass(frozen=True)
class Signer:
    """Signs certificates; ``file`` is what a client must trust."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def file(self) -> Path:
        return self.folder / "signer.pem"

    def server(self, name: str = "127.0.0.1", *, expired: bool = False) -> ssl.SSLContext:
        """The context of a server whose certificate is for ``name`` and signed by this signer."""
        key = ec.generate_private_key(ec.SECP256R1())
        return _context(self.folder, key, _certificate(name, key, self, expired=expired))


def signer(folder: Path) -> Signer:
    key = ec.generate_private_key(ec.SECP256R1())
    made = Signer(folder, key, _certificate("Signer of a test", key, None))
    made.file.write_bytes(made.certificate.public_bytes(serialization.Encoding.PEM))
    return made


def self_signed(folder: Path, name: str = "127.0.0.1") -> ssl.SSLContext:
    """The context of a server that nobody has signed for."""
    key = ec.generate_private_key(ec.SECP256R1())
    return _context(folder, key, _certificate(name, key, None))


def _certificate(
    name: str, key: ec.EllipticCurvePrivateKey, by: Signer | None, *, expired: bool = False
) -> x509.Certificate:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    try:
        alternative: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        alternative = x509.DNSName(name.replace(" ", "-"))
    signed_by = by.key if by is not None else key
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by is not None else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 30 * _DAY)
        .not_valid_after(now - _DAY if expired else now + _DAY)
        .add_extension(x509.SubjectAlternativeName([alternative]), critical=False)
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signed_by.public_key()), critical=False)
    )
    return builder.sign(signed_by, hashes.SHA256())


def _context(folder: Path, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> ssl.SSLContext:
    file = folder / f"{certificate.serial_number}.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context
