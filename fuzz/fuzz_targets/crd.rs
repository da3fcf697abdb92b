#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| seatrial_fuzz::crd::run(data));
