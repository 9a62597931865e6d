# What Ruby's own parser sees in Ruby files: one line of JSON per definition. Paths come on standard input.
require "json"

def name_of(node)
  node.is_a?(RubyVM::AbstractSyntaxTree::Node) ? node.children.last : node
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
  inside ||= %i[CLASS MODULE SCLASS].include?(node.type)
  node.children.each { |child| child.is_a?(Array) ? child.each { |c| visit(c, path, inside) } : visit(child, path, inside) }
end

$VERBOSE = nil
$stdin.each_line(chomp: true) do |path|
  visit(RubyVM::AbstractSyntaxTree.parse(File.read(path, encoding: "UTF-8")), path, false)
rescue SyntaxError, ArgumentError, EncodingError => error
  puts JSON.generate(path: path, error: error.message.lines.first.to_s.scrub)
end
