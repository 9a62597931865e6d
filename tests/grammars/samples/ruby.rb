#!/usr/bin/env ruby
# frozen_string_literal: true

# A harbour that orders ships.

require "json"

$harbour = "north"
limit = 3 # a local of the script

# What a harbour is made of.
module Harbour
  # rubocop:disable Style/MutableConstant
  BERTHS = [1, 2]
  # rubocop:enable Style/MutableConstant
  EAST, WEST = 0, 1
  RULES ||= {}
  NOTICE = <<~TEXT.freeze
    Ships wait
    outside.
  TEXT
  Late = Class.new(StandardError)
  Load = Struct.new(:weight, :label) do
    def heavy? = weight > 30
  end
  Helpers = Module.new do
    def help; end
  end
  @count = 0

  class << self
    attr_accessor :keeper

    # Opens it.
    def open(at)
      @open = at
    end

    private def shut
      @open = nil
    end
  end

  def self.close = @open = nil

  module_function

  def lantern
    colour = :red
    colour
  end
end

# Ships, named from outside.
class Harbour::Ship < Base # :nodoc:
  include Comparable
  @@built = 0

  attr_reader :name, "port", :flag
  private attr_writer :cargo
  mattr_accessor :registry, default: nil

  # @param name [String]
  # @param port [String]
  def initialize(name, port:)
    @name = name

    def nested_helper
      :inside
    end
  end

  # Loads it.
  #
  # Slowly.
  sig { params(cargo: Cargo).returns(T.nilable(Cargo)) }
  def load(cargo)
    text = <<~LOG + "!"
      loaded
      #{cargo}
    LOG
    puts text
  rescue Late => e
    raise e
  ensure
    done
  end

  def <=>(other)
    name <=> other.name
  end

  def [](index) = holds[index]

  def []=(index, value); holds[index] = value; end

  def +@; self; end

  def !; false; end

  def port=(value)
    @port = value
  end

  def ready?; end

  def launch!; end

  def class
    Ship
  end

  private

  protected def weigh
    1
  end

  memoize private def depth = 3

  private_class_method def self.draft(hull)
    hull
  end

  define_method(:sink) { |at| at }

  define_method "raise_#{flag}" do
    true
  end

  define_singleton_method(:fleet) { [] }

  # Another word for it.
  alias_method :stow, :load
  alias :to_s :name
  alias == eql?

  class Anchor; end

  class Harbour::Buoy
    def ring; end
  end

  included do
    def from_a_block; end
  end
end

=begin
Adds to one object.
=end
def Harbour.tide(at)
  at
end

class << Harbour
  def twice; end
end

def helper(a, *rest, key: 1, &block)
  inner = ->(x) { x + 1 }
  inner.call(a)
end

class ShipTest < Minitest::Test
  def setup
    @ship = nil
  end

  def test_sails
    assert true
  end

  test "floats when empty" do
    assert true
  end

  def helper_of_tests; end
end

RSpec.describe Harbour::Ship, "at sea" do
  let(:ship) { 1 }

  describe "#load" do
    # Slow.
    it "takes cargo" do
      expect(1).to eq 1
    end

    context 'when it is full' do
      it { is_expected.to be_full }
      specify { expect(2).to eq 2 }
      it "is pending"
    end
  end

  shared_examples "a float" do
    it("floats") { true }
  end

  def spec_helper_method; end
end

namespace :harbour do
  # Once a year.
  desc "Dredges the harbour"
  task :dredge, [:depth] => :environment do |t, args|
    puts args
  end

  desc <<~TEXT
    Paints it.
  TEXT
  task paint: %w[dredge] do
    puts 1
  end

  task "sweep"
end

Rake::TestTask.new(:check) do |t|
  t.verbose = true
end

task default: [:check]

__END__
def not_code
end
