//! Which start of the machine this is.

/// Returns the boot identifier of the machine, or zeros if the system has none.
pub(crate) fn boot_id() -> [u8; 16] {
    let mut id = [0; 16];
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> = text.bytes().filter_map(|b| char::from(b).to_digit(16)).map(|d| d as u8).collect();
    if digits.len() == 32 {
        for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
    }
    id
}
