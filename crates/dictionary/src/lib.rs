//! What the bytes mean: FIX dictionaries, their readers, shipped versions, validation.
#![forbid(unsafe_code)]
