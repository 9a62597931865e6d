# What Ruby's own parser sees in Ruby files: one line of JSON per definition. Paths come on standard input.
require "json"

MAKERS = %i[alias_method define_method define_singleton_method def_delegator delegate attr_reader attr_writer].freeze

def name_of(node)
  node.is_a?(RubyVM::AbstractSyntaxTree::Node) ? node.children.last : node
end

# Methods and types that a call makes, as `alias_method :a, :b` or `A = Struct.new(:b)`: both sides may see them.
def made_by(node)
  case node.type
  when :ALIAS then [[node.children[0].children[0].to_s, "method"]]
  when :CDECL
    call = node.children.last
    call = call.children[0] if call.respond_to?(:type) && call.type == :ITER
    made = call.respond_to?(:type) && call.type == :CALL && %i[new define].include?(call.children[1])
    made ? [[node.children[0].to_s, "class"]] : []
  when :FCALL
    return [] unless MAKERS.include?(node.children[0]) && node.children[1].respond_to?(:children)

    names = node.children[1].children.select { |each| each.respond_to?(:type) && %i[LIT STR].include?(each.type) }
    names.map { |each| [each.children[0].to_s, "method"] }
  else []
  end
end

def visit(node, path, inside)
  return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

  name = kind = nil
  case node.type
  when :CLASS then name, kind = name_of(node.children[0]), "class"
  when :MODULE then name, kind = name_of(node.children[0]), "module"
  when :DEFN then name, kind = node.children[0], inside ? "method" : "function"
  when :DEFS then name, kind = node.children[1], "method"
  end
  puts JSON.generate(path: path, name: name, kind: kind, line: node.first_lineno, end: node.last_lineno) if name
  made_by(node).each do |made, sort|
    row = { path: path, name: made, kind: sort, line: node.first_lineno, end: node.last_lineno, optional: true }
    puts JSON.generate(row)
  end
  inside ||= %i[CLASS MODULE SCLASS].include?(node.type)
  node.children.each { |child| child.is_a?(Array) ? child.each { |c| visit(c, path, inside) } : visit(child, path, inside) }
end

$VERBOSE = nil
$stdin.each_line(chomp: true) do |path|
  visit(RubyVM::AbstractSyntaxTree.parse(File.read(path, encoding: "UTF-8")), path, false)
rescue SyntaxError, ArgumentError, EncodingError => error
  puts JSON.generate(path: path, error: error.message.lines.first.to_s.scrub)
end
