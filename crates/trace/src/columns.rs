use crate::{Error, Flags, Operation, Record};

/// Records as columns, as tables and Parquet files hold them.
///
/// The names of files and processes are in the reader's tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// See [`Record::time_ns`].
    pub time_ns: Vec<i64>,
    /// See [`Record::process`].
    pub process: Vec<u32>,
    /// [`Operation::code`] of [`Record::operation`].
    pub operation: Vec<u8>,
    /// See [`Record::file`].
    pub file: Vec<u32>,
    /// See [`Record::offset`].
    pub offset: Vec<u64>,
    /// See [`Record::size`].
    pub size: Vec<u64>,
    /// See [`Record::duration_ns`].
    pub duration_ns: Vec<i64>,
    /// [`Flags::bits`] of [`Record::flags`].
    pub flags: Vec<u16>,
    /// See [`Record::other`].
    pub other: Vec<u32>,
}

impl Columns {
    /// The columns of these records.
    #[must_use]
    pub fn of(records: &[Record]) -> Self {
        Self {
            time_ns: records.iter().map(|it| it.time_ns).collect(),
            process: records.iter().map(|it| it.process).collect(),
            operation: records.iter().map(|it| it.operation.code()).collect(),
            file: records.iter().map(|it| it.file).collect(),
            offset: records.iter().map(|it| it.offset).collect(),
            size: records.iter().map(|it| it.size).collect(),
            duration_ns: records.iter().map(|it| it.duration_ns).collect(),
            flags: records.iter().map(|it| it.flags.bits()).collect(),
            other: records.iter().map(|it| it.other).collect(),
        }
    }

    /// The records in these columns, whose files and processes must be below
    /// the given numbers.
    ///
    /// # Errors
    /// If the columns differ in length, or a number has no meaning.
    pub fn records(&self, files: usize, processes: usize) -> Result<Vec<Record>, Error> {
        let rows = self.time_ns.len();
        for (name, length) in [
            ("process", self.process.len()),
            ("operation", self.operation.len()),
            ("file", self.file.len()),
            ("offset", self.offset.len()),
            ("size", self.size.len()),
            ("duration_ns", self.duration_ns.len()),
            ("flags", self.flags.len()),
            ("other", self.other.len()),
        ] {
            if length != rows {
                return Err(Error::Value {
                    name,
                    found: format!("a column of {length} values"),
                    expected: format!("as many as in time_ns, {rows}"),
                });
            }
        }
        (0..rows)
            .map(|row| self.record(row, files, processes))
            .collect()
    }

    fn record(&self, row: usize, files: usize, processes: usize) -> Result<Record, Error> {
        let wrong = |name, found: u64, expected| {
            Err(Error::Value {
                name,
                found: format!("{found} in row {row}"),
                expected,
            })
        };
        let (file, process) = (self.file[row], self.process[row]);
        if file as usize >= files {
            return wrong("file", file.into(), format!("a number below {files}"));
        }
        if process as usize >= processes {
            return wrong(
                "process",
                process.into(),
                format!("a number below {processes}"),
            );
        }
        let code = self.operation[row];
        let Some(operation) = Operation::from_code(code) else {
            let expected = format!("a number below {}", Operation::ALL.len());
            return wrong("operation", code.into(), expected);
        };
        let (bits, other) = (self.flags[row], self.other[row]);
        let Some(flags) = Flags::from_bits(bits) else {
            return wrong("flags", bits.into(), "a sum of known flags".to_owned());
        };
        if other != Record::NO_FILE && other as usize >= files {
            return wrong("other", other.into(), format!("a number below {files}"));
        }
        Ok(Record {
            time_ns: self.time_ns[row],
            duration_ns: self.duration_ns[row],
            offset: self.offset[row],
            size: self.size[row],
            process,
            file,
            operation,
            flags,
            other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            time_ns: -1,
            duration_ns: 2,
            offset: u64::MAX,
            size: 4,
            process: 5,
            file: 6,
            operation: Operation::Write,
            flags: Flags::WRITE,
            other: 6,
        }
    }

    #[test]
    fn records_come_back_from_columns() {
        let records = [
            record(),
            Record {
                operation: Operation::Stat,
                ..record()
            },
        ];
        assert_eq!(Columns::of(&records).records(7, 6).unwrap(), records);
    }

    #[test]
    fn wrong_columns_are_refused() {
        let columns = Columns::of(&[record()]);
        let error = columns.records(6, 6).unwrap_err().to_string();
        assert_eq!(error, "file = 6 in row 0: expected a number below 6");
        assert!(columns.records(7, 5).is_err());
        let error = Columns {
            operation: vec![200],
            ..columns.clone()
        }
        .records(7, 6);
        assert!(
            error
                .unwrap_err()
                .to_string()
                .starts_with("operation = 200 in row 0")
        );
        let error = Columns {
            size: vec![],
            ..columns
        }
        .records(7, 6)
        .unwrap_err()
        .to_string();
        assert_eq!(
            error,
            "size = a column of 0 values: expected as many as in time_ns, 1"
        );
    }
}
