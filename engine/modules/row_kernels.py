"""What lies between the matrix products of a transformer layer, fused, for a few rows on a CPU. Compiled by numba.

A step over a handful of sessions has so little to compute that torch spends most of its time in starting small
operations. Each function here does the work of five to twenty of them in one to three microseconds. Arrays are
C-contiguous float32 unless said otherwise; a *row* is one position of one session. Functions come in pairs: one gives
float rows, the other rounds each row to a byte with a scale of its own, exactly as ``Int8Linear`` does. Sums that come
from int8 products still lack the scales of their rows, ``factors`` [rows], and the bias; for float products both are
empty. The arithmetic is torch's up to the order of additions.

Needs numba, an optional dependency. The first use on a machine compiles for some seconds; the machine code is kept in
the user's cache. The arguments of one model have the same types every time, so a step never compiles after the first.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import os
from typing import Any

import numpy as np
import platformdirs

os.environ.setdefault("NUMBA_CACHE_DIR", str(platformdirs.user_cache_path("sayso") / "kernels"))

from llvmlite import ir
from numba import extending, njit, types

from sayso.engine.modules.int8 import ZERO

_FAST = {"reassoc", "contract", "nsz", "arcp"}
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": _FAST}
_intrinsic: Any = extending.intrinsic
_kernel = njit(cache=True, **_OPTIONS)
_inlined = njit(**_OPTIONS)

_ONE = np.float32(1.0)
_MOST = np.float32(127.0)
_TINY = np.float32(1e-8)
_ZERO = np.int32(ZERO)


@_intrinsic
def _float_of(typing: Any, word: Any) -> Any:
    """The float32 whose bits an int32 holds."""
    return types.float32(types.int32), lambda _context, builder, _sig, args: builder.bitcast(args[0], ir.FloatType())


@_intrinsic
def _word_of(typing: Any, number: Any) -> Any:
    """The bits of a float32."""
    return types.int32(types.float32), lambda _context, builder, _sig, args: builder.bitcast(args[0], ir.IntType(32))


def _wide(value):
    """A number of a cache as float32; bfloat16 comes as the uint16 of its bits."""
    raise NotImplementedError


@extending.overload(_wide)
def _wide_of(value):
    if value == types.uint16:
        return lambda value: _float_of(np.int32(np.uint32(value) << np.uint32(16)))
    return lambda value: value


def _narrow(value, like):
    """A float32 as a number of a cache, rounded to nearest even as torch does. NaN stays NaN."""
    raise NotImplementedError


@extending.overload(_narrow)
def _narrow_of(value, like):
    if like.dtype == types.uint16:

        def to_bfloat16(value, like):
            word = np.uint32(_word_of(value))
            rounded = (word + np.uint32(0x7FFF) + ((word >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
            return np.uint16(rounded) if value == value else np.uint16(0x7FC0)

        return to_bfloat16
    return lambda value, like: value


@_inlined
def _exp(x):
    """To within two units of the last place and in a form that is computed for many values at once (Cephes' expf)."""
    x = max(min(x, np.float32(88.0)), np.float32(-87.0))
    whole = np.rint(x * np.float32(1.44269504088896341))
    x = x - whole * np.float32(0.693359375) + whole * np.float32(2.12194440e-4)
    sum_ = np.float32(1.9875691500e-4)
    sum_ = sum_ * x + np.float32(1.3981999507e-3)
    sum_ = sum_ * x + np.float32(8.3334519073e-3)
    sum_ = sum_ * x + np.float32(4.1665795894e-2)
    sum_ = sum_ * x + np.float32(1.6666665459e-1)
    sum_ = sum_ * x + np.float32(5.0000001201e-1)
    sum_ = sum_ * x * x + x + _ONE
    return sum_ * _float_of(np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)))


@_inlined
def _round_row(row, rounded):
    """A row as the unsigned bytes that int8 products take, and its scale."""
    most = np.float32(0.0)
    for i in range(len(row)):
        most = max(most, abs(row[i]))
    scale = max(most, _TINY) / _MOST
    for i in range(len(row)):
        rounded[i] = np.uint8(np.int32(np.rint(row[i] / scale)) + _ZERO)
    return scale


@_inlined
def _add_norm_row(x, sums, factors, bias, weight, epsilon, delay, r, out):
    """One row of ``add_norm``."""
    width = len(x)
    if len(sums):
        row, factor = sums[r], factors[r] if len(factors) else _ONE
        for i in range(width):
            x[i] += row[i] * factor
        if len(bias):
            for i in range(width):
                x[i] += bias[i]
    squares = np.float32(0.0)
    for i in range(width):
        squares += x[i] * x[i]
    scale = _ONE / np.sqrt(squares / np.float32(width) + epsilon)
    for i in range(width):
        out[i] = x[i] * scale * weight[i]
    if len(delay):
        for i in range(width):
            out[i] *= delay[i]


@_kernel
def add_norm(x, sums, factors, bias, weight, epsilon, delays, layer, new, out):
    """Add the products to the rows x [rows, width] in place; their norm goes to ``out``.

    ``sums`` [rows, width] may be empty. ``delays`` [sessions, layers, width], if any, multiplies the norm; each
    session has ``new`` rows.
    """
    for r in range(len(x)):
        delay = delays[r // new, layer] if len(delays) else weight[:0]
        _add_norm_row(x[r], sums, factors, bias, weight, epsilon, delay, r, out[r])


@_kernel
def add_norm_int8(x, sums, factors, bias, weight, epsilon, delays, layer, new, rounded, scales):
    """The same with the norm rounded."""
    out = np.empty(x.shape[1], np.float32)
    for r in range(len(x)):
        delay = delays[r // new, layer] if len(delays) else weight[:0]
        _add_norm_row(x[r], sums, factors, bias, weight, epsilon, delay, r, out)
        scales[r] = _round_row(out, rounded[r])


@_inlined
def _turn(head, cosine, sine, out):
    """Split-half rotation of one head into ``out``; the first half of ``sine`` has its sign changed already."""
    half = len(head) // 2
    for i in range(half):
        out[i] = _narrow(head[i] * cosine[i] + head[half + i] * sine[i], out)
    for i in range(half):
        out[half + i] = _narrow(head[half + i] * cosine[half + i] + head[i] * sine[half + i], out)


@_kernel
def turn_heads(sums, factors, bias, cosine, sine, slots, entries, rings, start, length, queries):
    """Rotate query and key heads; keys and values go into the rings, queries where attention reads them.

    ``sums`` [rows, (heads + 2 * key heads) * width]; ``cosine`` and ``sine`` [rows, width]; ``slots`` [sessions, 1] and
    ``entries`` [sessions, new], int64; ``rings`` [slots, elements] of which a layer's [2 * key heads, length, width]
    begin at ``start``; ``queries`` [sessions, key heads, grouped * new, width]. Rings and queries are float32, or
    uint16 for bfloat16.
    """
    new = entries.shape[1]
    _, kv_heads, many, width = queries.shape
    grouped = many // new
    heads = kv_heads * grouped
    row = np.empty(sums.shape[1], np.float32)
    for r in range(len(sums)):
        session, j = r // new, r % new
        factor, line = factors[r] if len(factors) else _ONE, sums[r]
        for i in range(len(row)):
            row[i] = line[i] * factor
        if len(bias):
            for i in range(len(row)):
                row[i] += bias[i]
        for head in range(heads):
            out = queries[session, head // grouped, (head % grouped) * new + j]
            _turn(row[head * width : (head + 1) * width], cosine[r], sine[r], out)
        ring, entry = rings[slots[session, 0]], entries[session, j]
        for head in range(kv_heads):
            at = start + (head * length + entry) * width
            key = row[(heads + head) * width : (heads + head + 1) * width]
            _turn(key, cosine[r], sine[r], ring[at : at + width])
            at += kv_heads * length * width
            value, stored = row[(heads + kv_heads + head) * width :], ring[at : at + width]
            for i in range(width):
                stored[i] = _narrow(value[i], stored)


@_inlined
def _join_row(seen, new, r, out):
    """One row of ``join_heads``."""
    _, many, kv_heads, width = seen.shape
    grouped = many // new
    for head in range(kv_heads * grouped):
        values = seen[r // new, (head % grouped) * new + r % new, head // grouped]
        part = out[head * width : (head + 1) * width]
        for i in range(width):
            part[i] = _wide(values[i])


@_kernel
def join_heads(seen, new, out):
    """What the queries saw [sessions, grouped * new, key heads, width], as rows [rows, heads * width]."""
    for r in range(len(out)):
        _join_row(seen, new, r, out[r])


@_kernel
def join_heads_int8(seen, new, rounded, scales):
    """The same rounded."""
    out = np.empty(rounded.shape[1], np.float32)
    for r in range(len(rounded)):
        _join_row(seen, new, r, out)
        scales[r] = _round_row(out, rounded[r])


@_inlined
def _gate_row(sums, factor, out):
    """One row of ``gate``."""
    inner = len(out)
    for i in range(inner):
        x = sums[i] * factor
        out[i] = x / (_ONE + _exp(-x)) * (sums[inner + i] * factor)


@_kernel
def gate(sums, factors, out):
    """silu of the first half of ``sums`` [rows, 2 * inner] times the second half, to ``out`` [rows, inner]."""
    for r in range(len(out)):
        _gate_row(sums[r], factors[r] if len(factors) else _ONE, out[r])


@_kernel
def gate_int8(sums, factors, rounded, scales):
    """The same rounded."""
    out = np.empty(rounded.shape[1], np.float32)
    for r in range(len(rounded)):
        _gate_row(sums[r], factors[r], out)
        scales[r] = _round_row(out, rounded[r])
