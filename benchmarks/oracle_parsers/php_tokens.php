<?php
// What PHP's own lexer sees in PHP files: one line of JSON per definition. Paths come on standard input.
//
// A definition is a keyword and a name; it ends at the bracket that closes its body, or at `;`.

const TYPES = [T_CLASS => 'class', T_INTERFACE => 'interface', T_TRAIT => 'trait', T_ENUM => 'enum'];
const MODIFIERS = [T_ABSTRACT, T_FINAL, T_PUBLIC, T_PROTECTED, T_PRIVATE, T_STATIC, T_READONLY];

function read_file(string $path): void
{
    try {
        $tokens = PhpToken::tokenize(file_get_contents($path), TOKEN_PARSE);
    } catch (Error $error) {
        echo json_encode(['path' => $path, 'error' => $error->getMessage()]), "\n";
        return;
    }
    $tokens = array_values(array_filter($tokens, fn ($token) => !$token->isIgnorable()));
    $open = []; // definitions whose end is not seen yet: row and the depth of brackets around their body
    $depth = 0;
    $rows = [];
    foreach ($tokens as $i => $token) {
        $kind = TYPES[$token->id] ?? ($token->id === T_FUNCTION ? 'function' : null);
        $before = $tokens[$i - 1] ?? null;
        // `Foo::class` and `use function x;` name nothing.
        if ($kind && !($before && $before->is([T_DOUBLE_COLON, T_OBJECT_OPERATOR, T_USE, T_READONLY]) && $kind !== 'function' && !$before->is(T_READONLY))
            && !($kind === 'function' && $before && $before->is([T_USE, T_DOUBLE_COLON, T_OBJECT_OPERATOR]))) {
            $next = $i + 1;
            if (($tokens[$next] ?? null)?->is(['&', T_AMPERSAND_NOT_FOLLOWED_BY_VAR_OR_VARARG, T_AMPERSAND_FOLLOWED_BY_VAR_OR_VARARG])) {
                $next++;
            }
            $name = $tokens[$next] ?? null;
            if ($name && preg_match('/^[A-Za-z_\x80-\xff][\w\x80-\xff]*$/', $name->text)
                && !($kind !== 'function' && $name->is([T_EXTENDS, T_IMPLEMENTS]))) {
                $first = $i;
                while ($first > 0 && $tokens[$first - 1]->is(MODIFIERS)) {
                    $first--;
                }
                $outer = end($open);
                if ($kind === 'function' && $outer && $outer[2] && $outer[1] === $depth - 1) {
                    $kind = 'method';
                }
                $rows[] = ['path' => $path, 'name' => $name->text, 'kind' => $kind, 'line' => $tokens[$first]->line, 'end' => 0];
                $open[] = [count($rows) - 1, $depth, !in_array($kind, ['function', 'method'])];
            } elseif ($kind === 'class') { // anonymous: its functions are methods
                $rows[] = ['path' => $path, 'name' => 'class@anonymous', 'kind' => 'class', 'line' => $token->line, 'end' => 0, 'optional' => true];
                $open[] = [count($rows) - 1, $depth, true];
            }
        }
        if ($token->is(['{', T_CURLY_OPEN, T_DOLLAR_OPEN_CURLY_BRACES])) {
            $depth++;
        } elseif ($token->text === '}') {
            $depth--;
        }
        if ($open && end($open)[1] === $depth && ($token->text === '}' || $token->text === ';')) {
            [$row] = array_pop($open);
            if ($row >= 0) {
                $rows[$row]['end'] = $token->line;
            }
        }
    }
    foreach ($rows as $row) {
        echo json_encode($row, JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}

while (($path = fgets(STDIN)) !== false) {
    read_file(rtrim($path, "\n"));
}
