// What the parser of Zig's standard library sees: one line of tab-separated fields per definition.
// Paths are arguments. `F path errors` begins a file; then kind, name, first and last line.
const std = @import("std");
pub fn main(init: std.process.Init) !void {
    const gpa = init.gpa;
    const io = init.io;
    var out_buf: [65536]u8 = undefined;
    var fw = std.Io.File.stdout().writer(io, &out_buf);
    const w = &fw.interface;
    var args = try init.minimal.args.iterateAllocator(gpa);
    _ = args.next();
    while (args.next()) |path| {
        const src = std.Io.Dir.cwd().readFileAllocOptions(io, path, gpa, .unlimited, .of(u8), 0) catch continue;
        var ast = try std.zig.Ast.parse(gpa, src, .{ .mode = .zig });
        try w.print("F\t{s}\t{d}\n", .{ path, ast.errors.len });
        const tags = ast.nodes.items(.tag);
        for (tags, 0..) |t, i| {
            const node: std.zig.Ast.Node.Index = @enumFromInt(i);
            const first = ast.tokenLocation(0, ast.firstToken(node)).line + 1;
            const last = ast.tokenLocation(0, ast.lastToken(node)).line + 1;
            var buf: [1]std.zig.Ast.Node.Index = undefined;
            if (t == .test_decl) {
                const nt = ast.nodeData(node).opt_token_and_node[0].unwrap();
                const nm = if (nt) |x| ast.tokenSlice(x) else "test";
                try w.print("test\t{s}\t{d}\t{d}\n", .{ nm, first, last });
            } else if (t == .fn_decl) {
                const p = ast.fullFnProto(&buf, node).?;
                if (p.name_token) |x| try w.print("fn\t{s}\t{d}\t{d}\n", .{ ast.tokenSlice(x), first, last });
            } else if (ast.fullVarDecl(node)) |v| {
                const nm = ast.tokenSlice(v.ast.mut_token + 1);
                var kind: []const u8 = "var";
                if (v.ast.init_node.unwrap()) |x| {
                    var b2: [2]std.zig.Ast.Node.Index = undefined;
                    if (ast.fullContainerDecl(&b2, x)) |c| kind = ast.tokenSlice(c.ast.main_token);
                    if (ast.nodeTag(x) == .error_set_decl) kind = "errorset";
                }
                try w.print("{s}\t{s}\t{d}\t{d}\n", .{ kind, nm, first, last });
            } else if (ast.fullFnProto(&buf, node)) |p| {
                // The prototype of a function with a body is listed too; the reader tells them apart.
                if (p.name_token) |x| try w.print("proto\t{s}\t{d}\t{d}\n", .{ ast.tokenSlice(x), first, last });
            }
        }
    }
    try w.flush();
}
