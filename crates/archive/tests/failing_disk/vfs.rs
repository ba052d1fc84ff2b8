//! SQLite's access to files (sqlite.org/vfs.html): its own for Unix, with calls that fail where the disk is ill.
// allow(unsafe): the interface is one of C, and only this test has a use for it
#![allow(unsafe_code)]
#![allow(non_snake_case)] // The names of sqlite3.h.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use rusqlite::ffi;

use crate::disk::{self, Call, Failure, Pending};

/// Makes all databases of this process go through here, and lets one test at a time do so.
pub(crate) fn register() -> MutexGuard<'static, ()> {
    static REGISTERED: Once = Once::new();
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    REGISTERED.call_once(|| {
        // SAFETY: SQLite's own access to files is registered at its first use and lives as long as the process; ours is
        // a copy of it that lives as long.
        unsafe {
            let unix = ffi::sqlite3_vfs_find(std::ptr::null());
            assert!(!unix.is_null(), "SQLite has no access to files");
            let ours = Box::leak(Box::new(ffi::sqlite3_vfs {
                szOsFile: c_int::try_from(size_of::<Opened>()).unwrap() + (*unix).szOsFile,
                zName: c"ill".as_ptr(),
                pNext: std::ptr::null_mut(),
                pAppData: unix.cast(),
                xOpen: Some(open),
                xDelete: Some(delete),
                xAccess: Some(access),
                xFullPathname: Some(full_pathname),
                ..*unix
            }));
            assert_eq!(ffi::sqlite3_vfs_register(ours, 1), ffi::SQLITE_OK);
        }
    });
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What SQLite takes for a file; the one of the own access for Unix lies behind it.
#[repr(C)]
struct Opened {
    base: ffi::sqlite3_file,
    path: *const c_char,
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // Without memory maps of the database itself.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// The file of the own access for Unix behind one of ours.
unsafe fn unix(file: *mut ffi::sqlite3_file) -> *mut ffi::sqlite3_file {
    // SAFETY: SQLite allocates `szOsFile` bytes for each file, which is room for both.
    unsafe { file.byte_add(size_of::<Opened>()) }
}

/// Calls a method of the file behind one of ours.
macro_rules! own {
    ($file:expr, $method:ident $(, $argument:expr)*) => {{
        // SAFETY: a file that was opened has all methods of version 2, and SQLite calls ours with what it would call those.
        unsafe {
            let unix = unix($file);
            ((*(*unix).pMethods).$method.unwrap())(unix $(, $argument)*)
        }
    }};
}

/// Ends a call that fails.
macro_rules! fail {
    ($call:expr) => {
        if let Some(Failure::With(code) | Failure::HalfWay(code)) = disk::next($call) {
            return code;
        }
    };
}

unsafe extern "C" fn open(
    vfs: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite gives room for a file; one without methods is not closed.
    unsafe { (*file).pMethods = std::ptr::null() };
    fail!(if flags & ffi::SQLITE_OPEN_CREATE == 0 { Call::Open } else { Call::Make });
    // SAFETY: as `own`; the name lives as long as the file (sqlite3.h).
    unsafe {
        let code = ((*own_vfs(vfs)).xOpen.unwrap())(own_vfs(vfs), name, unix(file), flags, out);
        if code == ffi::SQLITE_OK {
            (*file.cast::<Opened>()).path = name;
            (*file).pMethods = &raw const METHODS;
        }
        code
    }
}

unsafe fn own_vfs(vfs: *mut ffi::sqlite3_vfs) -> *mut ffi::sqlite3_vfs {
    // SAFETY: `register` put it there.
    unsafe { (*vfs).pAppData.cast() }
}

unsafe extern "C" fn delete(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    fail!(Call::Delete);
    // SAFETY: SQLite calls it with what it would call its own.
    unsafe { ((*own_vfs(vfs)).xDelete.unwrap())(own_vfs(vfs), name, sync) }
}

unsafe extern "C" fn access(vfs: *mut ffi::sqlite3_vfs, name: *const c_char, flags: c_int, out: *mut c_int) -> c_int {
    fail!(Call::Access);
    // SAFETY: SQLite calls it with what it would call its own.
    unsafe { ((*own_vfs(vfs)).xAccess.unwrap())(own_vfs(vfs), name, flags, out) }
}

unsafe extern "C" fn full_pathname(
    vfs: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: SQLite calls it with what it would call its own.
    unsafe { ((*own_vfs(vfs)).xFullPathname.unwrap())(own_vfs(vfs), name, room, out) }
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    own!(file, xClose)
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, into: *mut c_void, count: c_int, at: i64) -> c_int {
    fail!(Call::Read);
    own!(file, xRead, into, count, at)
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, count: c_int, at: i64) -> c_int {
    let (count, code) = match disk::next(Call::Write) {
        None => (count, ffi::SQLITE_OK),
        Some(Failure::HalfWay(code)) => (count / 2, code),
        Some(Failure::With(code)) => return code,
    };
    remember(file, from, count, at);
    let written = own!(file, xWrite, from, count, at);
    if code == ffi::SQLITE_OK { written } else { code }
}

/// What a write puts in the place of what, for a power cut.
fn remember(file: *mut ffi::sqlite3_file, from: *const c_void, count: c_int, at: i64) {
    let Some(path) = path_of(file) else { return };
    let (length, offset) = (usize::try_from(count).unwrap(), u64::try_from(at).unwrap());
    let mut size = 0;
    assert_eq!(own!(file, xFileSize, &raw mut size), ffi::SQLITE_OK);
    let old_size = u64::try_from(size).unwrap();
    let there = usize::try_from(old_size.saturating_sub(offset)).unwrap().min(length);
    let mut old = vec![0_u8; there];
    assert_eq!(own!(file, xRead, old.as_mut_ptr().cast(), c_int::try_from(there).unwrap(), at), ffi::SQLITE_OK);
    // SAFETY: SQLite gives so many bytes to write.
    let new = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), length) }.to_vec();
    disk::written(path, Pending { offset, new, old, old_size });
}

/// The path of a file; temporary ones have none.
fn path_of(file: *mut ffi::sqlite3_file) -> Option<PathBuf> {
    // SAFETY: `open` has put it there.
    let path = unsafe { (*file.cast::<Opened>()).path };
    // SAFETY: it ends with a zero and lives as long as the file.
    (!path.is_null()).then(|| PathBuf::from(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes())))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    fail!(Call::Truncate);
    // Nothing that was cut off is wanted back: whoever cuts has it elsewhere, written through.
    path_of(file).iter().for_each(disk::written_through);
    own!(file, xTruncate, size)
}

/// Without a flush, which nobody would see here: what was written is taken back by a power cut only until now.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _flags: c_int) -> c_int {
    fail!(Call::Sync);
    path_of(file).iter().for_each(disk::written_through);
    ffi::SQLITE_OK
}

unsafe extern "C" fn file_size(file: *mut ffi::sqlite3_file, size: *mut i64) -> c_int {
    fail!(Call::Size);
    own!(file, xFileSize, size)
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    own!(file, xLock, level)
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    own!(file, xUnlock, level)
}

unsafe extern "C" fn check_reserved_lock(file: *mut ffi::sqlite3_file, out: *mut c_int) -> c_int {
    own!(file, xCheckReservedLock, out)
}

unsafe extern "C" fn file_control(file: *mut ffi::sqlite3_file, what: c_int, argument: *mut c_void) -> c_int {
    own!(file, xFileControl, what, argument)
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    own!(file, xSectorSize)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    own!(file, xDeviceCharacteristics)
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    fail!(Call::Map);
    own!(file, xShmMap, page, size, extend, out)
}

unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, count: c_int, flags: c_int) -> c_int {
    own!(file, xShmLock, offset, count, flags)
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    own!(file, xShmBarrier);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    own!(file, xShmUnmap, delete)
}
