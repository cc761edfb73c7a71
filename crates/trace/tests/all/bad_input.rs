//! Invalid input: one clear error with the place and the expected text, or
//! correct reading with the rest counted.

use std::io::{self, Read, Write};

use crate::common::{drain, error_of, open_bytes, samples};
use headrace_trace::{Input, Operation, Reason, open, open_input};

const HEADER: &str = "time,process,operation,file,offset,size,duration\n";
const LINE: &str = "5 1.000000 read(3</f>, \"\"..., 4096) = 158 <0.000007>\n";

#[test]
fn a_missing_file_a_directory_and_an_unknown_format_are_told() {
    let error = open("/no/such/trace".as_ref(), None)
        .err()
        .unwrap()
        .to_string();
    assert_eq!(
        error,
        "/no/such/trace: No such file or directory (os error 2)"
    );
    let error = open("/".as_ref(), None).err().unwrap().to_string();
    assert_eq!(error, "/: is a directory: expected a trace file");
    let error = error_of("x", LINE, Some("vtrace"));
    assert!(
        error.starts_with("format = \"vtrace\": expected csv ("),
        "{error}"
    );
}

#[test]
fn an_empty_file_is_told() {
    let error = error_of("t.csv", "", None);
    assert!(
        error.starts_with("t.csv: is empty: expected csv ("),
        "{error}"
    );
    let error = error_of("t.csv", "", Some("csv"));
    assert!(
        error.starts_with("t.csv:1: no header: expected exactly time,process,"),
        "{error}"
    );
    let error = error_of("t", "", Some("strace"));
    assert!(
        error.starts_with("t: is empty: expected lines of strace -f -ttt"),
        "{error}"
    );
    assert_eq!(
        drain(open_bytes("t", HEADER, None).unwrap().as_mut(), 9).unwrap(),
        []
    );
}

#[test]
fn binary_files_are_told() {
    let binary: Vec<u8> = (0..200_000_u32)
        .map(|it| (it.wrapping_mul(97) >> 3) as u8)
        .collect();
    let error = error_of("t.bin", binary.clone(), None);
    assert!(
        error.starts_with("t.bin: is in no known trace format: expected csv ("),
        "{error}"
    );
    let error = error_of("t.csv", binary.clone(), None);
    assert!(error.starts_with("t.csv:1: header "), "{error}");
    let error = error_of("t.strace", binary, None);
    assert!(error.starts_with("t.strace"), "{error}");
    assert!(
        error.contains("expected lines of strace -f -ttt -T -y such as"),
        "{error}"
    );
    assert!(!error.contains('\n'), "{error}");
}

#[test]
fn a_wrong_header_is_told() {
    for header in [
        "time,process,operation,file,offset,size\n",
        "time,process,operation,file,size,offset,duration\n",
        "Time,process,operation,file,offset,size,duration\n",
        "time;process;operation;file;offset;size;duration\n",
    ] {
        let error = error_of("t.csv", header, None);
        let given = header.trim();
        let expected =
            "time,process,operation,file,offset,size,duration, perhaps with ,flags,other";
        assert_eq!(
            error,
            format!("t.csv:1: header {given}: expected exactly {expected}")
        );
    }
}

#[test]
fn wrong_rows_are_told_with_their_line() {
    let good = "0.5,1,read,\"/a\nb\",0,1,0.000000001\n";
    for (row, expected) in [
        ("0.5,1,read,/f,0,1\n", "6 values: expected time,process,"),
        (
            "0.5,1,read,/f,0,1,0,9\n",
            "8 values: expected time,process,",
        ),
        (
            "soon,1,read,/f,0,1,0\n",
            "time = \"soon\": expected seconds such as 0.000125000",
        ),
        (
            "99999999999,1,read,/f,0,1,0\n",
            "time = \"99999999999\": expected seconds",
        ),
        (
            "0.5,1,reed,/f,0,1,0\n",
            "operation = \"reed\": expected one of open, create, close,",
        ),
        (
            "0.5,1,read,/f,-1,1,0\n",
            "offset = \"-1\": expected a number of bytes such as 4096",
        ),
        (
            "0.5,1,read,/f,0,18446744073709551616,0\n",
            "size = \"18446744073709551616\": expected a number of bytes",
        ),
        (
            "0.5,1,read,/f,0,1,-0.1\n",
            "duration = \"-0.1\": expected seconds such as 0.000125000",
        ),
    ] {
        let error = error_of("t.csv", format!("{HEADER}{good}{row}{good}"), None);
        // The header is line 1, the good row lines 2 and 3.
        assert!(
            error.starts_with(&format!("t.csv:4: {expected}")),
            "{error}"
        );
    }
}

#[test]
fn a_truncated_last_line_is_counted() {
    let row = "0.5,1,read,/f,0,1,0.000000001\n";
    for cut in 1..row.len() {
        let trace = format!("{HEADER}{row}{}", &row[..cut]);
        let mut reader = open_bytes("t.csv", trace, None).unwrap();
        assert_eq!(
            drain(reader.as_mut(), 10).unwrap().len(),
            1,
            "{}",
            &row[..cut]
        );
        assert_eq!(
            reader.skipped().of("truncated last line"),
            1,
            "{}",
            &row[..cut]
        );
    }
    for cut in 1..LINE.len() - 2 {
        let trace = format!("{LINE}{}", &LINE[..cut]);
        let mut reader = open_bytes("t", trace, None).unwrap();
        assert_eq!(
            drain(reader.as_mut(), 10).unwrap().len(),
            1,
            "{}",
            &LINE[..cut]
        );
        assert_eq!(
            reader.skipped().of("truncated last line"),
            1,
            "{}",
            &LINE[..cut]
        );
    }
}

/// Wherever the last line of a text is cut, its record is the whole one or none, never another.
#[test]
fn a_cut_last_line_gives_no_other_record() {
    for (format, bytes) in samples() {
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        let text = text.trim_end();
        let last = text.rfind('\n').map_or(0, |at| at + 1);
        let records = |text: &str| {
            let mut reader = open_bytes("0.txt", text, Some(format)).ok()?;
            drain(reader.as_mut(), 100).ok()
        };
        let (whole, without) = (records(&format!("{text}\n")), records(&text[..last]));
        assert!(whole.is_some(), "{format}");
        for cut in (last + 1..text.len()).filter(|cut| text.is_char_boundary(*cut)) {
            let cut_records = records(&text[..cut]);
            assert!(
                cut_records == whole || cut_records == without,
                "{format}: {}: {cut_records:?}",
                &text[last..cut]
            );
        }
    }
}

#[test]
fn cut_numbers_of_block_traces_are_counted() {
    let alibaba = "64,R,12737376256,4096,1577808000000046\n\
                   64,W,12737380352,8192,1577808000000182\n\
                   725,W,45071982592,524288,157780800000";
    let msr = "128166372003061629,usr,0,Read,7014609920,24576,41286\n\
               128166372016382155,usr,0,Write,2517991424,4096,1963\n\
               128166372026382245,usr,1,Read,15517229056,512,2";
    for (format, text) in [("alibaba", alibaba), ("msr", msr)] {
        let mut reader = open_bytes("t", text, None).unwrap();
        assert_eq!(drain(reader.as_mut(), 10).unwrap().len(), 2, "{format}");
        let kind = &reader.skipped().kinds().last().unwrap();
        assert_eq!(
            (kind.kind.name, kind.examples[0].line),
            ("truncated last line", 3)
        );
    }
    assert!(
        error_of(
            "t",
            "128166372003061629,usr,0,Read,7014609920,24576,4",
            None
        )
        .starts_with(
            "t: has a single line, without a line break at its end: it may be cut: expected lines"
        )
    );
}

#[test]
fn bytes_behind_gzip_data_are_told() {
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let one = packed(LINE);
    let number = |bytes: &[u8]| {
        let mut reader = open_bytes("t.gz", bytes, None)?;
        drain(reader.as_mut(), 10).map(|records| records.len())
    };
    // Several members are one text, and zeros pad them.
    assert_eq!(number(&[&one[..], &one].concat()).unwrap(), 2);
    let padded = [&one[..], &[0; 100_000], &one, &[0; 512]].concat();
    assert_eq!(number(&padded).unwrap(), 2);
    let message = |bytes: &[u8]| number(bytes).unwrap_err().to_string();
    assert_eq!(
        message(&[&one[..], b"junk\n"].concat()),
        "t.gz: other bytes follow its gzip data: expected the end of the file, or more gzip data; \
         `gzip -dc` gives the data before them"
    );
    let truncated = "t.gz: its gzip data is truncated: expected a complete gzip file";
    assert_eq!(message(&one[..one.len() - 3]), truncated);
    assert_eq!(message(&[&one[..], &one[..5]].concat()), truncated);
    let mut corrupt = one.clone();
    let checksum = corrupt.len() - 6;
    corrupt[checksum] ^= 1;
    assert!(message(&corrupt).starts_with("t.gz: its gzip data is corrupt ("));
}

#[test]
fn lines_of_other_programs_are_counted() {
    let trace = format!("make: entering\n{LINE}\nsome\r\n\0\u{1}\n{LINE}");
    let mut reader = open_bytes("t", trace, None).unwrap();
    assert_eq!(drain(reader.as_mut(), 10).unwrap().len(), 2);
    let [kind] = reader
        .skipped()
        .kinds()
        .iter()
        .filter(|it| it.count == 3)
        .collect::<Vec<_>>()[..]
    else {
        panic!("{:?}", reader.skipped())
    };
    assert_eq!(kind.kind.reason, Reason::NotUnderstood);
    let lines: Vec<_> = kind
        .examples
        .iter()
        .map(|it| (it.line, it.text.as_str()))
        .collect();
    assert_eq!(lines, [(1, "make: entering"), (4, "some"), (5, "\0\u{1}")]);
}

#[test]
fn lines_may_end_as_on_windows() {
    let csv = format!("{HEADER}0.5,1,read,/f,0,1,0\n").replace('\n', "\r\n");
    let mut reader = open_bytes("t.csv", csv, None).unwrap();
    assert_eq!(drain(reader.as_mut(), 10).unwrap().len(), 1);
    let mut reader = open_bytes("t", LINE.replace('\n', "\r\n"), None).unwrap();
    let records = drain(reader.as_mut(), 10).unwrap();
    assert_eq!((records[0].size, records[0].duration_ns), (158, 7000));
}

#[test]
fn names_that_are_not_text_are_kept_apart() {
    let mut csv = HEADER.as_bytes().to_vec();
    csv.extend(b"0,1,read,/\xff,0,1,0\n0,1,read,/\xfe,0,1,0\n");
    let mut reader = open_bytes("t.csv", csv, None).unwrap();
    drain(reader.as_mut(), 10).unwrap();
    assert_eq!(
        reader.files().iter().collect::<Vec<_>>(),
        ["/\\xff", "/\\xfe"]
    );
    let trace = "5 1.0 unlink(\"/\\377\") = 0 <0.1>\n5 1.0 unlink(\"/\\303\\274\") = 0 <0.1>\n";
    let mut reader = open_bytes("t", trace, None).unwrap();
    drain(reader.as_mut(), 10).unwrap();
    assert_eq!(reader.files().iter().collect::<Vec<_>>(), ["/\\xff", "/ü"]);
}

#[test]
fn huge_numbers_are_counted_or_kept_in_range() {
    let max = u64::MAX;
    let trace = format!(
        "{LINE}5 1.1 pread64(3</f>, \"\"..., 1, {max}0) = 1 <0.1>\n\
         5 1.2 lseek(3</f>, 0, SEEK_SET) = {max}999 <0.1>\n\
         5 1.3 lseek(3</f>, 0, SEEK_SET) = 9223372036854775807 <0.1>\n\
         5 1.4 read(3</f>, \"\"..., 1) = 9223372036854775807 <0.1>\n\
         5 1.5 read(3</f>, \"\"..., 1) = 9223372036854775807 <0.1>\n\
         5 1.6 read(99999999999</f>, \"\"..., 1) = 1 <0.1>\n\
         5 99999999999999999999.6 read(3</f>, \"\"..., 1) = 1 <0.1>\n\
         99999999999999 1.7 read(3</f>, \"\"..., 1) = 1 <0.1>\n\
         5 1.8 clone(child_stack=NULL, flags=0) = 99999999999 <0.1>\n\
         5 1.9 close_range(0, {max}, 0) = 0 <0.1>\n"
    );
    let mut reader = open_bytes("t", trace, None).unwrap();
    let records = drain(reader.as_mut(), 10).unwrap();
    let last = records.last().unwrap();
    assert_eq!(last.operation, Operation::Close);
    let reads: Vec<_> = records
        .iter()
        .filter(|it| it.operation == Operation::Read)
        .collect();
    assert_eq!(reads.last().unwrap().offset, u64::MAX - 1);
    assert_eq!(reads.last().unwrap().end(), u64::MAX);
    assert_eq!(
        reader.skipped().total(Reason::NotUnderstood),
        6,
        "{:#?}",
        reader.skipped()
    );
}

/// An input without end that repeats a pattern after a beginning.
struct Endless {
    beginning: io::Cursor<Vec<u8>>,
    pattern: &'static [u8],
    at: usize,
}

impl Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.beginning.read(into)?;
        if count > 0 {
            return Ok(count);
        }
        for byte in &mut *into {
            *byte = self.pattern[self.at];
            self.at = (self.at + 1) % self.pattern.len();
        }
        Ok(into.len())
    }
}

/// Without a bound these would fill the memory and never end.
#[test]
fn lines_without_end_are_errors() {
    for (format, beginning, pattern, expected) in [
        (
            "csv",
            "",
            &b"a"[..],
            "t:1: a row of more than 1048576 bytes",
        ),
        ("csv", HEADER, b"a", "t:2: a row of more than 1048576 bytes"),
        ("csv", HEADER, b"\"a\n", "t:2: 1 values: expected"),
        (
            "csv",
            "time,process,operation,file,offset,size,duration\n0,1,read,\"",
            b"a\n",
            "t:2: a row of more than",
        ),
        ("csv", HEADER, b",", "t:2: a row of more than"),
        ("strace", "", b"a", "t:1: a line of more than 1048576 bytes"),
        (
            "strace",
            LINE,
            b"\\\"",
            "t:2: a line of more than 1048576 bytes",
        ),
        ("strace", "", b"a\n", "t:1000: no line of strace so far"),
    ] {
        let beginning = io::Cursor::new(beginning.as_bytes().to_vec());
        let bytes = Box::new(Endless {
            beginning,
            pattern,
            at: 0,
        });
        let input = Input {
            name: "t".into(),
            bytes,
        };
        let error = open_input(input, Some(format))
            .and_then(|mut reader| drain(reader.as_mut(), 100))
            .unwrap_err()
            .to_string();
        assert!(error.starts_with(expected), "{format} {expected}: {error}");
    }
}
