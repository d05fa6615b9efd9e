import fc from 'fast-check'
import { arbitraryBytesOf } from './arbitrary-bytes.ts'
import { arbitraryTrailers } from './arbitrary-trailers.ts'
import type { Unfolding } from './arbitrary-unfolding.ts'
import { arbitraryUnfolding } from './arbitrary-unfolding.ts'

/** What is done to a push before it is sent. */
export const SPOILINGS = [
  'nothing',
  'pack',
  'pack with its checksum',
  'object',
  'commands',
  'all of it',
] as const

export interface FuzzedPush {
  readonly target: {
    readonly family: string
    readonly slug: string
    readonly content: (count: number) => Content
  }
  readonly spoiling: (typeof SPOILINGS)[number]
  /** Which object is spoilt, where one is. */
  readonly at: number
  /** The committer's date, as the commit has it; undefined is one that there is. */
  readonly date: string | undefined
  /** How bytes are changed. */
  readonly change: (bytes: Buffer) => Buffer
  /** The end of the message. */
  readonly trailers: string
  /** A folder beside the payload. */
  readonly unfolding: Unfolding | undefined
}

/** Files by path, each new with every push. */
export type Content = Readonly<Record<string, string>>

export const TARGETS: FuzzedPush['target'][] = [
  {
    family: 'workflows',
    slug: 'bot',
    content: (count) => ({ 'data.json': `{\n  "parameters": {\n    "count": ${count}\n  }\n}\n` }),
  },
  {
    family: 'testsets',
    slug: 'rows',
    content: (count) => ({
      'testcases/00/00/01.json': `{"country":"Peru","n":${count},"testcase_dedup_id":"a"}\n`,
    }),
  },
  {
    family: 'queries',
    slug: 'traces',
    content: (count) => ({ 'data.json': `{\n  "windowing": {\n    "limit": ${count + 1}\n  }\n}\n` }),
  },
]

/** Seconds and zones that no calendar has, or only git. */
const ODD_DATES = [
  '9000000000000 +0000',
  '253402300800 +0000',
  '99999999999999999999 +0000',
  '-1 +0000',
  '0 +0000',
  '1700000000 +9999',
  '1700000000 -0000',
  '1700000000',
]

export const arbitraryPush: fc.Arbitrary<FuzzedPush> = fc.record({
  target: fc.constantFrom(...TARGETS),
  spoiling: fc.constantFrom(...SPOILINGS),
  at: fc.nat(),
  date: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_DATES) },
  ),
  change: arbitraryChange(),
  trailers: arbitraryTrailers,
  unfolding: arbitraryUnfolding,
})

/** The same change of whatever bytes it is given; which they are is known when the head is. */
function arbitraryChange(): fc.Arbitrary<(bytes: Buffer) => Buffer> {
  return fc
    .nat()
    .map((seed) => (bytes) => fc.sample(arbitraryBytesOf(bytes), { numRuns: 1, seed })[0] ?? bytes)
}
