import fc from 'fast-check'
import { list, type MakeText, numbered } from '../../../bench/turns/hostile-values.ts'

/** What grows: JSON whose text is small, of the kinds that something in the service looks into. */
const UNITS = [
  '{}',
  '[]',
  '0',
  'null',
  '""',
  '1.0',
  '1e400',
  '12345678901234567890',
  '"\\u00e9"',
  '"{{name}}"',
  '"@{{workflow.slug=tone}}"',
  '"@svc.embed[@svc.references[workflow.slug=tone]]"',
  '{"@svc.embed":{"@svc.references":{"workflow":{"slug":"tone"}}}}',
  '{"@svc.embed":{}}',
  '{"role":"user","content":"{{a}}"}',
  '{"type":"string","pattern":"(a+)+$"}',
  '{"field":"span_name","value":"x"}',
  '{"slug":"support-bot"}',
  '{"data":{"a":1}}',
  '{"1":0,"0":1}',
  '{"__proto__":{}}',
]

/** A text of JSON as large as is asked for: units side by side, under many keys, in nests, and these in each other. */
export const arbitrarySize: fc.Arbitrary<{ readonly name: string; readonly make: MakeText }> = fc
  .record({
    unit: fc.constantFrom(...UNITS),
    inner: fc.constantFrom('none', 'none', 'list', 'keys', 'nest', 'chain'),
    outer: fc.constantFrom('list', 'keys', 'nest', 'chain'),
    count: fc.constantFrom(1, 3, 10, 50, 100, 120),
  })
  .map(({ unit, inner, outer, count }) => {
    const part =
      inner === 'none' ? unit : KINDS[inner](unit, Math.min(count * (unit.length + 8), 4000), count)
    return {
      name: `${outer} of ${inner === 'none' ? '' : `${inner} of ${count} `}${unit}`,
      make: (bytes) => KINDS[outer](part, bytes, Math.min(count, 20)),
    }
  })

type Kind = (unit: string, bytes: number, depth: number) => string

const KINDS: Readonly<Record<'list' | 'keys' | 'nest' | 'chain', Kind>> = {
  list: (unit, bytes) => list(unit, bytes),
  keys: (unit, bytes) => numbered((number) => `"k${number}":${unit}`, bytes, '{', '}'),
  /** Arrays in arrays, which indentation makes long. */
  nest: (unit, bytes, depth) => '['.repeat(depth) + list(unit, bytes - 2 * depth) + ']'.repeat(depth),
  /** Objects in objects. */
  chain: (unit, bytes, depth) => '{"a":'.repeat(depth) + list(unit, bytes - 6 * depth) + '}'.repeat(depth),
}
