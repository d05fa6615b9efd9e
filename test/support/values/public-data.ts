import { type Json, type JsonObject, fromEntries } from '../../../src/base/json/json.ts'
import { parseJson } from '../../../src/base/json/parse-json.ts'
import { type SeededRandom, seededRandom } from './seeded-random.ts'

/** Every top-level key that a row of `publicData` may have, in the order in which rows have them. */
export const PUBLIC_COLUMNS: readonly string[] = [
  'id',
  'question',
  'context',
  'answer',
  'choices',
  'metadata',
  'score',
  'is_reviewed',
  'note',
  '__proto__',
  'constructor',
  '7',
  'ключ',
  '質問 🗝️',
]

/**
 * `count` rows in the shape of public evaluation data sets (question, context, answer, metadata), with everything in them that
 * such files are known to break on: cells of several lines and of several KB, quotes, commas, emoji, right-to-left text,
 * formulas, numbers that no double holds, nulls, empty strings, and keys like `__proto__` and `7`. No two rows are equal. The
 * same seed gives the same rows, and fewer rows are the first ones of more.
 */
export function* publicData(count: number, seed: number): Generator<JsonObject> {
  const random = seededRandom(seed)
  for (let number = 0; number < count; number++) yield publicRow(random, number)
}

function publicRow(random: SeededRandom, number: number): JsonObject {
  const members: [string, Json][] = [
    ['id', `eval-${String(number).padStart(7, '0')}`],
    ['question', question(random)],
    ['context', context(random)],
    ['answer', answer(random)],
  ]
  if (random.once(2)) members.push(['choices', texts(random, 2 + random.below(4), phrase)])
  members.push(['metadata', metadata(random, number)])
  if (!random.once(5)) members.push(['score', literal(random.pick(NUMBERS))])
  if (!random.once(5)) members.push(['is_reviewed', random.pick([true, false, null])])
  if (random.once(2)) members.push(['note', random.pick(NOTES)])
  for (const key of ODD_KEYS) if (random.once(8)) members.push([key, oddValue(random)])
  return fromEntries(members)
}

function question(random: SeededRandom): string {
  const asked = `${phrase(random)}, ${phrase(random)}?`
  return random.once(4) ? `${phrase(random)}:\n"${asked}"\r\n\t- ${phrase(random)}` : asked
}

/** One in five is several KB long. */
function context(random: SeededRandom): Json {
  if (random.once(10)) return null
  if (random.once(10)) return ''
  const lines = random.once(5) ? 40 + random.below(80) : 1 + random.below(4)
  return texts(
    random,
    lines,
    (line) => `${phrase(line)}. ${phrase(line)}; "${phrase(line)}", ${phrase(line)}.`,
  ).join(random.once(3) ? '\n\n' : '\n')
}

function answer(random: SeededRandom): Json {
  if (random.once(3)) return phrase(random)
  return random.pick<() => Json>([
    () => literal(random.pick(NUMBERS)),
    () => random.once(2),
    () => null,
    () => '',
    () => `${phrase(random)}\n${phrase(random)}\n#### ${random.below(1000)}`,
    () => ['```python', `print("${phrase(random)}")`, "x = {'a': [1, 2]}", '```'].join('\n'),
  ])()
}

function metadata(random: SeededRandom, number: number): JsonObject {
  const members: [string, Json][] = [
    [
      'source',
      { name: random.pick(SOURCES), line: number + 1, license: random.pick(['CC-BY-4.0', 'MIT', null]) },
    ],
    ['difficulty', literal(random.pick(NUMBERS))],
    ['spans', [[random.below(50), 50 + random.below(50)], []]],
    ['tags', texts(random, random.below(4), phrase)],
  ]
  for (const key of ODD_KEYS) if (random.once(6)) members.push([key, oddValue(random)])
  if (random.once(3)) members.push(['', { nested: { deeper: [{ deepest: phrase(random) }, null, {}] } }])
  return fromEntries(members)
}

function oddValue(random: SeededRandom): Json {
  return random.pick<() => Json>([
    () => phrase(random),
    () => literal(random.pick(NUMBERS)),
    () => fromEntries([[random.pick(ODD_KEYS), phrase(random)]]),
    () => [],
    () => null,
  ])()
}

/** Some words of one language, sometimes with what it takes to break a reader of files in between. */
function phrase(random: SeededRandom): string {
  const words = random.pick(LANGUAGES)
  const chosen = Array.from({ length: 2 + random.below(6) }, () => random.pick(words))
  if (random.once(3)) chosen.splice(random.below(chosen.length), 0, random.pick(STUMBLING_BLOCKS))
  return chosen.join(' ')
}

function texts(random: SeededRandom, count: number, text: (random: SeededRandom) => string): string[] {
  return Array.from({ length: count }, () => text(random))
}

/** A number as it is written; a literal that a double would change is kept whole. */
function literal(text: string): Json {
  return parseJson(text)
}

const ODD_KEYS = PUBLIC_COLUMNS.slice(PUBLIC_COLUMNS.indexOf('note') + 1)

const NUMBERS: readonly string[] = [
  '0',
  '-0',
  '1',
  '1.0',
  '42',
  '-17.25',
  '0.1',
  '0.1000000000000000055511151231257827',
  '3.14159265358979323846264338327950288',
  '9007199254740993',
  '12345678901234567890',
  '-98765432109876543210987654321098765432',
  '1e-7',
  '6.02214076e+23',
  '1E400',
  '2.50',
]

const SOURCES = ['wiki/Ålesund', 'exam "B", part 2', 'forum\\thread', 'https://example.org/?q=a,b&c=%22']

/** Cells that a spreadsheet would calculate, and texts that read as something else. */
const NOTES: readonly string[] = [
  '=1+1',
  '=HYPERLINK("https://example.org","click")',
  '+49 30 123456',
  '-2',
  '@SUM(A1:A9)',
  '\tindented',
  ' spaces around ',
  'true',
  'null',
  '007',
  '1e3',
  '{"a":1}',
  '[not json',
  '"quoted"',
  "'apostrophe",
  'a,b,c',
  'one\rtwo',
  '\ufeffmark',
  '',
]

const LANGUAGES: readonly (readonly string[])[] = [
  'which river flows past the old town and how long is it when measured from its source to the sea'.split(
    ' ',
  ),
  'welche Größe hat die Straße über den Fluß nach Süden für fünf müde Wölfe'.split(' '),
  'où naît la rivière qui mène à l’île déserte et combien d’années dura l’été'.split(' '),
  'какая река течёт мимо старого города и сколько лет назад построили мост'.split(' '),
  'كم عمر المدينة القديمة ومن بنى الجسر الكبير فوق النهر'.split(' '),
  'מי בנה את הגשר הישן מעל הנהר ומתי נחנכה העיר'.split(' '),
  ['東京は', '何県に', 'ありますか', '最も', '高い', '山の', '名前を', '答えて'],
  ['नदी', 'कहाँ', 'बहती', 'है', 'और', 'पुल', 'कितना', 'पुराना'],
]

const STUMBLING_BLOCKS: readonly string[] = [
  '"so-called"',
  '""',
  ',',
  ';;',
  '😀',
  '👩‍👩‍👧‍👦',
  '🇳🇴',
  '𝒳 ∈ ℝ',
  '𠮷野家',
  'e\u0301',
  '\u2028',
  '\u200f(שלום)\u200e',
  '<b>&amp;</b>',
  'C:\\temp\\new',
  '{{placeholder}}',
  '${name}',
  "it's",
  '%s%00',
]
