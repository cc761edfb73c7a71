//! Known answers of the published traces of volumes, objects and caches.

use crate::common::{
    drain, error_of, open_bytes, oracle_general, samples, vscsi_1, vscsi_2, written,
};
use headrace_trace::{Flags, Reader, Record, Summary};

/// Time and duration in nanoseconds, operation, process, file, offset and size; a missing duration
/// is `-`.
fn line(reader: &dyn Reader, record: &Record) -> String {
    let file = reader.files().get(record.file).unwrap();
    let process = reader.processes().get(record.process).unwrap();
    let duration = match record.flags.has(Flags::NO_DURATION) {
        true => "-".to_string(),
        false => record.duration_ns.to_string(),
    };
    format!(
        "{} {duration} {} [{process}] [{file}] {} {}",
        record.time_ns,
        record.operation.name(),
        record.offset,
        record.size
    )
}

fn read(bytes: impl Into<Vec<u8>>) -> (Vec<String>, Vec<(&'static str, u64)>) {
    let mut reader = open_bytes("t", bytes, None).unwrap();
    let records = drain(reader.as_mut(), 2).unwrap();
    let lines = records.iter().map(|it| line(reader.as_ref(), it)).collect();
    let kinds = reader.skipped().kinds().iter();
    (lines, kinds.map(|it| (it.kind.name, it.count)).collect())
}

fn sample(name: &str) -> Vec<u8> {
    let mut all = samples().into_iter().filter(|it| it.0 == name);
    all.next().unwrap().1
}

/// 2,048 blocks of 512 bytes are 1,048,576 bytes; seconds count from the start of the trace.
#[test]
fn spc() {
    let (records, kinds) = read(sample("spc"));
    assert_eq!(
        records,
        [
            "0 - read [asu 0] [asu 0] 1048576 4096",
            "250000000 - write [asu 1] [asu 1] 8192 8192",
            "1500000000 - write [asu 0] [asu 0] 1052672 512",
        ]
    );
    assert_eq!(
        kinds,
        [("trace without the size of its blocks: 512 bytes", 1)]
    );
    let late = read("0, 8, 512, R, 12.5\n0,8,512,R,13.0\n").0;
    assert_eq!(late[0], "12500000000 - read [asu 0] [asu 0] 4096 512");
}

/// Bytes; microseconds from the first request.
#[test]
fn alibaba() {
    let expected = [
        "0 - write [device 64] [device 64] 1073741824 16384",
        "100000 - read [device 7] [device 7] 4096 4096",
        "1000000000 - read [device 64] [device 64] 0 512",
    ];
    let (records, kinds) = read(sample("alibaba"));
    assert_eq!(records, expected);
    assert_eq!(kinds, []);
    let header = b"device_id,opcode,offset,length,timestamp\n".to_vec();
    let (records, kinds) = read([header, sample("alibaba")].concat());
    assert_eq!(records, expected);
    assert_eq!(kinds, [("header", 1)]);
}

/// 128 sectors of 512 bytes are 65,536 bytes; whole seconds.
#[test]
fn tencent() {
    let (records, kinds) = read(sample("tencent"));
    assert_eq!(
        records,
        [
            "0 - write [volume 1063] [volume 1063] 1048576 65536",
            "0 - read [volume 1063] [volume 1063] 0 4096",
            "2000000000 - read [volume 9] [volume 9] 4096 4096",
        ]
    );
    assert_eq!(kinds, [("time in whole seconds", 3)]);
}

/// Seconds since 1970; the response is the duration.
#[test]
fn systor() {
    let (records, kinds) = read(sample("systor17"));
    assert_eq!(
        records,
        [
            "0 800000 read [lun 0] [lun 0] 8192000 131072",
            "500000 1200000 write [lun 3] [lun 3] 4096 4096",
        ]
    );
    assert_eq!(
        kinds,
        [
            ("header", 1),
            ("request without a response: its type is unknown", 1)
        ]
    );
}

/// Milliseconds since the start of the recording; the last byte of a range belongs to it.
#[test]
fn ibm_object_storage() {
    let (records, kinds) = read(sample("ibm-cos"));
    assert_eq!(
        records,
        [
            "60000000000 - write [client] [0123456789abcdef] 0 8192",
            "61500000000 - read [client] [0123456789abcdef] 4096 4096",
            "61501000000 - stat [client] [fedcba9876543210] 0 528",
            "61502000000 - unlink [client] [fedcba9876543210] 0 0",
        ]
    );
    assert_eq!(kinds, []);
    let more = "1 REST.GET.OBJECT 0a 100\n2 REST.GET.OBJECT 0b 0 0 -1\n3 REST.COPY.OBJECT 0c 7\n\
                4 REST.PUT.OBJECT 0d\n";
    let (records, kinds) = read(more);
    assert_eq!(
        records,
        [
            "1000000 - read [client] [0a] 0 100",
            "2000000 - read [client] [0b] 0 0",
        ]
    );
    assert_eq!(
        kinds,
        [
            (
                "request that is no GET, PUT, HEAD or DELETE of an object",
                1
            ),
            ("GET or PUT without the object's size", 1),
        ]
    );
}

/// Microseconds from the first record; blocks of 512 bytes.
#[test]
fn vscsi_of_both_versions() {
    let all: Vec<_> = samples().into_iter().filter(|it| it.0 == "vscsi").collect();
    let (records, kinds) = read(all[0].1.clone());
    assert_eq!(
        records,
        [
            "0 - read [vm] [disk] 4096 4096",
            "250000 - write [vm] [disk] 512000 512",
            "1000000 - sync [vm] [disk] 0 0",
        ]
    );
    assert_eq!(kinds, []);
    let (records, kinds) = read(all[1].1.clone());
    assert_eq!(
        records,
        [
            "0 300000 read [vm] [disk] 4096 4096",
            "250000 40000 write [vm] [disk] 512000 512",
        ]
    );
    let unit = "response time of version 2, whose unit is not published: microseconds";
    assert_eq!(
        kinds,
        [
            (unit, 2),
            ("SCSI command that neither reads, writes nor flushes", 1)
        ]
    );
    // A damaged record among good ones, and a truncated one.
    let mut bytes = vscsi_1(0x28, 512, 0, 1).repeat(12);
    bytes[5 * 32 + 15] = 9;
    bytes.truncate(12 * 32 - 3);
    let (records, kinds) = read(bytes);
    assert_eq!(records.len(), 10);
    assert_eq!(
        kinds,
        [
            ("record that is not of the format", 1),
            ("truncated last record", 1)
        ]
    );
    let error = error_of("t", vscsi_2(0x28, 1, 1, 1, 1)[..20].to_vec(), Some("vscsi"));
    assert_eq!(
        error,
        "t: its first records have neither version 1 nor version 2: expected binary records of \
         vscsiStats, version 1 or 2"
    );
}

/// Blocks of 512 bytes, whole seconds.
#[test]
fn cloudphysics_as_text() {
    let (records, kinds) = read(sample("cloudphysics"));
    assert_eq!(
        records,
        [
            "0 - write [vm] [disk] 1048576 4096",
            "0 - read [vm] [disk] 4096 512",
            "2000000000 - sync [vm] [disk] 0 0",
        ]
    );
    assert_eq!(
        kinds,
        [
            ("time in whole seconds", 3),
            ("SCSI command that neither reads, writes nor flushes", 1),
        ]
    );
}

#[test]
fn oracle_general_of_a_cache() {
    let (records, kinds) = read(sample("oracle-general"));
    assert_eq!(
        records,
        [
            "0 - read [client] [object 11] 0 4096",
            "0 - read [client] [object 12] 0 512",
            "3000000000 - read [client] [object 11] 0 4096",
        ]
    );
    assert_eq!(
        kinds,
        [
            (
                "request without an operation: a read of the whole object",
                3
            ),
            ("time in whole seconds", 3),
        ]
    );
    // An object whose next use lies before is no record; nor are zeros a trace.
    let bytes = [
        oracle_general(1, 2, 3, -2),
        oracle_general(1, 2, 3, -1),
        oracle_general(2, 2, 3, 1),
    ];
    let mut reader = open_bytes("t", bytes.concat(), Some("oracle-general")).unwrap();
    assert_eq!(drain(reader.as_mut(), 9).unwrap().len(), 2);
    assert!(error_of("t", vec![0; 96], None).contains("no known trace format"));
}

/// The header of MSR Cambridge in the forms of its copies.
#[test]
fn msr_with_a_header() {
    let row = "128166372003061629,usr,0,Read,4096,512,41286\n";
    for (header, kind) in [
        (
            "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n",
            "header",
        ),
        (
            "\u{feff}timestamp,hostname,disk_number,type,offset,size,response_time\r\n",
            "header",
        ),
        (
            "\"Timestamp\",\"Hostname\",\"DiskNumber\",\"Type\",\"Offset\",\"Size\",\
             \"ResponseTime\"\n",
            "header",
        ),
        (
            "time,host,disk,type,offset,size,duration\n",
            "header with other names than the published ones: fields in the published order",
        ),
    ] {
        let (records, kinds) = read(header.to_string() + row);
        assert_eq!(
            records,
            ["0 4128600 read [usr] [usr_0] 4096 512"],
            "{header}"
        );
        assert_eq!(kinds, [(kind, 1)], "{header}");
    }
}

/// Missing values stay missing in Headrace's own CSV, and all others are read back.
#[test]
fn published_traces_come_back_from_csv() {
    let formats = [
        "spc",
        "alibaba",
        "tencent",
        "systor17",
        "ibm-cos",
        "vscsi",
        "cloudphysics",
        "oracle-general",
        "msr",
        "fiu",
    ];
    for (name, bytes) in samples().into_iter().filter(|it| formats.contains(&it.0)) {
        let mut reader = open_bytes("t", bytes, Some(name)).unwrap();
        let records = drain(reader.as_mut(), 2).unwrap();
        let lines: Vec<_> = records.iter().map(|it| line(reader.as_ref(), it)).collect();
        let (text, skipped) = written(&records, reader.files(), reader.processes(), "csv");
        assert!(skipped.kinds().is_empty());
        let (back, kinds) = read(text.clone());
        assert_eq!(back, lines, "{name}");
        assert_eq!(kinds, [], "{name}");
        let has_none = records.iter().any(|it| it.flags.has(Flags::NO_DURATION));
        let is_missing = |line: &str| line.contains(",,") && line.contains("no-duration");
        assert_eq!(text.lines().any(is_missing), has_none, "{name}: {text}");
    }
}

/// A sum of durations that the trace does not tell is no figure.
#[test]
fn a_summary_has_no_durations_where_the_trace_has_none() {
    let of = |name| Summary::of(open_bytes("t", sample(name), None).unwrap().as_mut()).unwrap();
    let alibaba = of("alibaba");
    for total in &alibaba.operations {
        assert_eq!(
            (total.seconds, total.without_duration),
            (None, total.count),
            "{total:?}"
        );
    }
    assert_eq!(alibaba.span_seconds, Some(1.0));
    let systor = of("systor17");
    assert_eq!(systor.operations[0].seconds, Some(0.0008));
    assert_eq!(systor.operations[0].without_duration, 0);
}

/// Compressed and packed files are named as such, with what unpacks them.
#[test]
fn packed_files_are_told() {
    let zstd = b"\x28\xb5\x2f\xfd\0\0\0".to_vec();
    assert_eq!(
        error_of("w1.oracleGeneral.bin.zst", zstd, None),
        "w1.oracleGeneral.bin.zst: is compressed with zstd: expected gzip or no compression, as \
         from `zstd -dc w1.oracleGeneral.bin.zst`"
    );
    let mut tar = vec![0; 1024];
    tar[257..262].copy_from_slice(b"ustar");
    assert_eq!(
        error_of("2018-10-01-01.tar", tar, None),
        "2018-10-01-01.tar: is an archive of tar: expected a trace, as from \
         `tar -xOf 2018-10-01-01.tar FILE`"
    );
    assert_eq!(
        error_of("t.zip", "PK\x03\x04more", None),
        "t.zip: is an archive of zip: expected a trace, as from `unzip -p t.zip FILE`"
    );
}
