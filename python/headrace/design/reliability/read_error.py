"""Probability of an unrecoverable read error, from the bit error rate of a data sheet."""

import math


def read_error_probability(bytes_read: float, bit_error_rate: float) -> float:
    """Return the probability that one or more bits of `bytes_read` cannot be read.

    1 - (1 - BER)^bits, by way of logarithms: in double precision 1 - 1e-16 has an error of 11 %.

    Args:
        bytes_read: Bytes that are read.
        bit_error_rate: Probability that a bit cannot be read, below 1.
    """
    return -math.expm1(8 * bytes_read * math.log1p(-bit_error_rate))
