//! The extended attribute that is looked up.

use std::ffi::CStr;

use rustix::io::Errno;

use crate::calls::{Calls, Handle, Result};

/// A user's attribute.
pub const USER_ATTRIBUTE: &CStr = c"user.headrace";

/// The attribute that files have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Attribute {
    /// An access control list (acl(5)), which is what permissions are checked by.
    #[default]
    AccessControlList,
    /// A user's own, where the file system has no lists.
    User,
}

impl Attribute {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static CStr {
        match self {
            Attribute::AccessControlList => c"system.posix_acl_access",
            Attribute::User => USER_ATTRIBUTE,
        }
    }
}

/// Gives a file an attribute: a list if the file system has such, else a user's. Gives
/// which.
///
/// # Errors
/// If it has neither.
pub fn give(calls: &mut dyn Calls, file: &Handle) -> Result<Attribute> {
    let list = Attribute::AccessControlList;
    match calls.set_attribute(file, list.name(), &access_control_list()) {
        Ok(()) => return Ok(list),
        Err(Errno::OPNOTSUPP | Errno::INVAL) => {}
        Err(errno) => return Err(errno),
    }
    calls.set_attribute(file, USER_ATTRIBUTE, b"1")?;
    Ok(Attribute::User)
}

/// A list that says more than the mode does, or the kernel would not store it: the user
/// may read. Version, then tag, permissions and user of each entry (include/uapi/linux/
/// posix_acl_xattr.h), in order of the tags.
fn access_control_list() -> Vec<u8> {
    let user = rustix::process::getuid().as_raw();
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, u32::MAX), // owner: read, write
        (0x02, 4, user),     // one user: read
        (0x04, 4, u32::MAX), // owner's group: read
        (0x10, 4, u32::MAX), // the most that users and groups may: read
        (0x20, 4, u32::MAX), // others: read
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, permissions, of) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(permissions.to_le_bytes());
        list.extend(of.to_le_bytes());
    }
    list
}
