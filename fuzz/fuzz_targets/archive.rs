#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| seatrial_fuzz::archive::run(data));
