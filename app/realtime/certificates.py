"""What is wrong with a server's certificate, in words that tell the causes apart. Pure."""

from __future__ import annotations

import ssl

from sayso.app.realtime.errors import RealtimeError


def certificate_fault(error: ssl.SSLCertVerificationError, where: str) -> RealtimeError:
    """Codes: tls_expired, tls_not_yet_valid, tls_self_signed, tls_unknown_issuer, tls_wrong_name, tls."""
    # OpenSSL's verification results, X509_V_ERR_… in its x509_vfy.h.
    match error.verify_code:
        case 10:
            return _fault("tls_expired", f"The certificate of {where} has expired. Its owner must renew it.")
        case 9:
            text = f"The certificate of {where} is not valid yet. Check this computer's date and time."
            return _fault("tls_not_yet_valid", text)
        case 18 | 19:
            text = f"The certificate of {where} is signed by itself. If it is yours, add it to the certificates that"
            return _fault("tls_self_signed", f"{text} this system trusts; else do not use this server.")
        case 20 | 21:
            text = f"This system does not know who signed the certificate of {where}. If you do, add the signer to the"
            return _fault("tls_unknown_issuer", f"{text} certificates that this system trusts.")
        case 62 | 64:
            text = f"The certificate of {where} was made for another name. Write the name that the certificate has."
            return _fault("tls_wrong_name", text)
        case _:
            return _fault("tls", f"The certificate of {where} is not trusted ({error.verify_message}).")


def _fault(code: str, text: str) -> RealtimeError:
    return RealtimeError(code, text, lasting=True)
