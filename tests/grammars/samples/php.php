#!/usr/bin/env php
<?php

declare(strict_types=1);

/*
 * Copyright notice that is no documentation.
 */

/**
 * Orders parcels.
 */

namespace Acme\Parcels;

use Acme\Base;
use function strlen;

const CAPACITY = 12, RETRIES = 3;
define('ACME_ROOT', __DIR__);
\define("ACME_DEBUG", false);

$counter = 0; // so far
$double = function (int $x) use ($counter): int {
    $local = $x * 2;
    return $local;
};
$half = static fn (int $x): float => $x / 2;

/**
 * One parcel.
 *
 * @template T
 */
#[Entity(table: 'parcels')]
#[Cached]
abstract class Parcel extends Base implements \Countable, Weighable
{
    use Logs, Retries {
        Logs::log insteadof Retries;
    }

    const LIMIT = 30;
    /** Labels. */
    final protected const string FRAGILE = 'fragile', HEAVY = 'heavy';

    /** @var float */
    private float $weight = 0.0, $tare;
    public static ?self $last;
    var $legacy;

    public string $label {
        get => strtoupper($this->label);
        set (string $value) {
            $this->label = $value;
        }
    }

    /**
     * Makes one.
     */
    public function __construct(
        /** Who gets it. */
        private readonly string $recipient,
        protected ?int $priority = null,
        int $plain = 1,
    ) {
        $this->weight = $plain;
    }

    abstract protected function pack(): void;

    /** Counts it. */
    #[\Override]
    #[Pure]
    final public function count(): int
    {
        function helper_inside(): int
        {
            return 1;
        }
        $sort = function ($a, $b) {
            return $a <=> $b;
        };

        return helper_inside();
    }

    public static function &heaviest(self ...$parcels): static|null { return new static; }

    public function handler(): Handler
    {
        return new class($this) extends Handler {
            private $done = false;

            public function handle(): void {}
        };
    }
}

// What has a weight.
interface Weighable extends \Stringable
{
    public const UNIT = 'kg';

    public function weigh(int $scale): float;
}

trait Logs
{
    private array $lines = [];

    public function log(string $line): void
    {
        $this->lines[] = $line;
    }
}

enum Size: string implements Weighable
{
    case Small = 's';
    // The usual one.
    #[Preferred]
    case Large = 'l';

    const DEFAULT = self::Small;

    public static function parse(string $text): self
    {
        return match ($text) {
            's' => self::Small,
            default => self::Large,
        };
    }
}

final readonly class Point {}

/** Sends it. */
function send(Parcel $parcel, string ...$notes): bool
{
    if ($notes) {
        $size = strlen($notes[0]);
    }
    return true;
}

if (!function_exists('polyfill')) {
    function polyfill() {}
}

class ParcelTest extends \PHPUnit\Framework\TestCase
{
    protected function setUp(): void {}

    public function testWeight(): void {}

    /**
     * @test
     * @dataProvider weights
     */
    public function it_is_packed(): void {}

    #[Test]
    #[DataProvider('weights')]
    public function sends_it(): void {}

    public static function weights(): array { return []; }
}

it('delivers on time', function () {
    expect(true)->toBeTrue();
});

describe("a depot", function () {
    test('is open', fn () => true)->with([1]);
});

return new class extends Migration {
    public function up(): void {}
};

// The second one.
namespace Acme\Web;

class Page {}
?>
<html>
<body>
<?php foreach ($parcels as $parcel): ?>
    <p class="function fake() {}"><?= $parcel ?></p>
    <?php function render_row($row) { ?>
        <td><?= $row ?></td>
    <?php } ?>
<?php endforeach ?>
</body>
</html>
