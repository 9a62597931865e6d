# Parcels and their carriers.

defprotocol Depot.Weighable do
  @moduledoc "What can be put on scales."
  @fallback_to_any true

  @doc "Weight in grams."
  @spec weigh(t) :: non_neg_integer
  def weigh(thing)

  def label(thing, options)
end

defmodule Depot.Parcel do
  @moduledoc """
  A parcel on its way.
  """

  use GenServer
  import Bitwise
  alias Depot.{Carrier, Weighable}

  @behaviour Depot.Carrier
  @capacity 40
  # In order of price.
  @sizes ~w(small large)a

  @timeout :timer.seconds(5)

  @typedoc "A parcel."
  @type t :: %__MODULE__{id: integer, weight: integer}
  @typep pair(a) :: {a, a}
  @opaque secret :: binary

  @derive {Inspect, only: [:id]}
  @enforce_keys [:id]
  defstruct [
    :id,
    weight: 0
  ]

  @doc "How a carrier takes it."
  @callback take(t) :: :ok | {:error, term}
  @macrocallback wrap(Macro.t()) :: Macro.t()
  @callback tag(a) :: a when a: atom

  defguard is_heavy(weight) when is_integer(weight) and weight > @capacity
  defguardp is_light(weight) when weight < 1

  # About the section, not the function.

  # Starts one.
  @impl true
  def init(state), do: {:ok, state}

  @doc """
  Weighs it.
  """
  @doc since: "1.2"
  @spec weigh(t) :: integer
  def weigh(parcel, unit \\ :gram)
  @spec weigh(t, atom) :: integer
  def weigh(%{weight: weight}, :gram), do: weight

  # Only these two are known.
  def weigh(%{weight: weight}, :kilogram) when weight > 0 do
    scale = fn number ->
      number / 1000
    end

    scale.(weight)
  end

  def weigh(parcel), do: weigh(parcel, :gram)

  def total, do: @capacity

  def total() do
    Enum.sum([])
  end

  @deprecated "Use total/0"
  defdelegate size(parcel), to: Map, as: :map_size

  def left <~> right when is_list(left) do
    left ++ right
  end

  def -parcel, do: parcel

  defp find(
         list,
         id
       )
       when is_list(list),
       do: Enum.find(list, &(&1.id == id))

  @doc ~S"""
  Wraps \n it.
  """
  defmacro wrap(name, do: block) do
    quote do
      def unquote(name)(argument) do
        unquote(block)
      end

      def unquote(:"#{name}!")(), do: raise("no")

      @wrapped true

      @doc "Inside a quotation."
      def plain, do: unquote(name)
    end
  end

  defmacrop twice(value), do: quote(do: unquote(value) * 2)

  for unit <- [:gram, :stone] do
    def unit_name(unquote(unit)), do: unquote(to_string(unit))
  end

  defmodule Error do
    defexception message: "lost"
    def exception(reason), do: %__MODULE__{message: reason}
  end

  defimpl Depot.Weighable, for: [Integer, Float] do
    def weigh(number), do: number
  end

  defimpl String.Chars do
    def to_string(parcel), do: "parcel #{parcel.id}"
  end
end

defimpl Enumerable, for: Depot.Parcel do
  @moduledoc false
  def count(_), do: {:ok, 1}
  def member?(_, _), do: {:error, __MODULE__}
end

defmodule Depot.Records do
  require Record
  Record.defrecord(:point, x: 0, y: 0)
  Record.defrecordp :corner, [:x]
end

defmodule Depot.Empty, do: def(nothing, do: nil)

defmodule Depot.ParcelTest do
  use ExUnit.Case, async: true

  @moduletag :slow

  setup do
    {:ok, parcel: %Depot.Parcel{id: 1}}
  end

  describe "weigh/2" do
    setup [:connect]

    @tag timeout: 100
    test "in grams", %{parcel: parcel} do
      assert Depot.Parcel.weigh(parcel) == 0
    end

    test "in #{:stones}" do
      :ok
    end
  end

  # To be written.
  test "is lost"

  property "weight is never negative" do
    check all n <- integer(), do: assert(n * n >= 0)
  end

  defp connect(context), do: context
end
