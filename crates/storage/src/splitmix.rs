//! Numbers that look random and are the same in every run.

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
pub fn finalise(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}
