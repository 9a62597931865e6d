//! Keeps parcels in a depot.

const std = @import("std");
const mem = std.mem;
pub const shelf = @import("shelf.zig");

/// How many parcels fit.
pub const capacity: usize = 20;
const small = 1;
var counter: u32 = 0;
pub threadlocal var limit: u32 = 3;
export var exported: u8 = 1;

const StoreError = error{ Full, Closed };
pub const DepotError = error{Lost} || StoreError;

/// What is stored.
pub const Parcel = struct {
    //! Lies in a row.

    const Self = @This();

    /// In grams.
    weight: u32,
    label: []const u8 = "",

    pub const max_weight = 10;

    /// Makes one.
    pub fn init(weight: u32) Self {
        const half = weight / 2;
        return .{ .weight = half * 2 };
    }

    fn heavy(self: *const Self) bool {
        return self.weight > max_weight;
    }

    pub const State = enum {
        stored,
        taken,

        pub fn isStored(self: State) bool {
            return self == .stored;
        }
    };

    test "is light" {
        try std.testing.expect(!Parcel.init(1).heavy());
    }
};

const Size = enum(u8) { small, large, _ };
pub const Content = union(enum) {
    letter: []const u8,
    box: u32,

    pub fn weight(self: Content) u32 {
        return switch (self) {
            .letter => 1,
            .box => |grams| grams,
        };
    }
};
const Raw = extern union { a: u32, b: f32 };
const Flags = packed struct(u8) { fragile: bool, rest: u7 };
pub const Handle = opaque {
    pub extern fn depot_close(self: *Handle) void;
};
const Impl = if (small == 1) struct {
    fn lock() void {}
} else struct {
    fn lock() void {}
};
const table = blk: {
    var result: [3]u8 = undefined;
    result[0] = 1;
    break :blk result;
};
const twice = struct {
    fn twice(x: u32) u32 {
        return 2 * x;
    }
}.twice;
const Callback = *const fn (u32) void;
const @"take back" = 1;

usingnamespace shelf;

comptime {
    _ = Parcel;
}

/// A row of anything.
pub fn Row(comptime T: type) type {
    return struct {
        const Self = @This();

        items: []T,

        pub fn push(self: *Self, item: T) void {
            self.items[0] = item;
        }

        pub const Iterator = struct {
            pub fn next(_: *Iterator) ?T {
                return null;
            }
        };
    };
}

// Plain words above.
pub inline fn open(path: []const u8) !void {
    const Local = struct {
        fn knock() void {}
    };
    const unused = path;
    outer: for (unused) |_| {
        break :outer;
    }
    Local.knock();
}

export fn depot_open() void {}
extern "c" fn depot_wait(seconds: c_int) callconv(.C) c_int;
noinline fn slow() noreturn {
    while (true) {}
}
fn first() void {} fn second() void {}

/// Opens twice.
test "opens \"twice\"" {
    try open("a");
}

test Parcel {
    _ = Parcel.init(1);
}

test {
    std.testing.refAllDecls(@This());
}
