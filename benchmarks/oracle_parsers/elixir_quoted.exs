# What Elixir's own parser sees in Elixir files: one line of tab-separated fields per definition, a clause each.
# Paths come on standard input. Fields: path, kind, name, arity, line, end; or path, "error", message.
kinds = %{
  def: :function, defp: :function, defdelegate: :function, defn: :function, defnp: :function,
  defmacro: :macro, defmacrop: :macro, defguard: :macro, defguardp: :macro
}

name_of = fn self, head ->
  case head do
    {:when, _, [head | _]} -> self.(self, head)
    {:unquote, _, [_]} -> {"unquote", -1}
    {{:unquote, _, _}, _, arguments} -> {"unquote", length(arguments)}
    {name, _, arguments} when is_atom(name) and is_list(arguments) -> {Atom.to_string(name), length(arguments)}
    {name, _, _} when is_atom(name) -> {Atom.to_string(name), 0}
    _ -> {"?", 0}
  end
end

last_line = fn tree ->
  {_, line} =
    Macro.prewalk(tree, 0, fn
      {_, meta, _} = node, line when is_list(meta) ->
        seen = [line, meta[:line], meta[:end][:line], meta[:closing][:line], meta[:end_of_expression][:line]]
        {node, seen |> Enum.reject(&is_nil/1) |> Enum.max()}

      node, line ->
        {node, line}
    end)

  line
end

emit = fn path, kind, name, arity, meta, node ->
  IO.puts(Enum.join([path, kind, String.replace(name, ~r/\s+/, " "), arity, meta[:line], last_line.(node)], "\t"))
end

visit = fn path, tree ->
  Macro.prewalk(tree, nil, fn
    {keyword, meta, [head | _]} = node, _ when is_map_key(kinds, keyword) ->
      {name, arity} = name_of.(name_of, head)
      emit.(path, kinds[keyword], name, arity, meta, node)
      {node, nil}

    {keyword, meta, [name | _]} = node, _ when keyword in [:defmodule, :defprotocol] ->
      kind = if keyword == :defmodule, do: :module, else: :protocol

      case name do
        {:__aliases__, _, parts} ->
          written = Enum.map_join(parts, ".", fn
            {part, _, _} -> Atom.to_string(part)
            part when is_atom(part) -> Atom.to_string(part)
          end)

          emit.(path, kind, written, 0, meta, node)

        _ ->
          emit.(path, kind, "?", 0, meta, node)
      end

      {node, nil}

    {keyword, meta, [title | rest]} = node, _ when keyword in [:test, :property] and is_list(rest) ->
      case title do
        {:__block__, _, [text]} when is_binary(text) -> emit.(path, :test, text, 0, meta, node)
        _ -> :ok
      end

      {node, nil}

    {:defimpl, meta, [_ | _]} = node, _ ->
      emit.(path, :impl, "impl", 0, meta, node)
      {node, nil}

    {keyword, meta, [_ | _]} = node, _ when keyword in [:setup, :setup_all] ->
      emit.(path, :setup, Atom.to_string(keyword), 0, meta, node)
      {node, nil}

    {:@, meta, [{keyword, _, [spec]}]} = node, _ when keyword in [:type, :typep, :opaque, :callback, :macrocallback] ->
      spec = case spec do {:when, _, [inner | _]} -> inner; other -> other end
      spec = case spec do {:"::", _, [inner | _]} -> inner; other -> other end
      {name, arity} = name_of.(name_of, spec)
      kind = if keyword in [:callback, :macrocallback], do: :callback, else: :type
      emit.(path, kind, name, arity, meta, node)
      {node, nil}

    # Clauses inside `for`, `if` or `quote` are no continuation of those outside.
    {_, meta, [_ | _]} = node, _ when is_list(meta) ->
      if meta[:do], do: emit.(path, :block, "block", 0, meta, node)
      {node, nil}

    node, _ ->
      {node, nil}
  end)
end

keep_literal = fn literal, meta -> {:ok, {:__block__, meta, [literal]}} end

for path <- IO.stream(:stdio, :line) |> Enum.map(&String.trim_trailing(&1, "\n")) do
  with {:ok, source} <- File.read(path),
       {:ok, tree} <-
         Code.string_to_quoted(source, token_metadata: true, columns: true, literal_encoder: keep_literal) do
    visit.(path, tree)
  else
    error -> IO.puts("#{path}\terror\t#{error |> inspect() |> String.slice(0, 100)}")
  end
end
