import fc from 'fast-check'

const KEYS = [
  'Slug',
  'Variant',
  'Deploy',
  'Deploy-Key',
  'Deploy-From',
  'Deploy-To',
  'Idempotency-Key',
] as const

/** Where a name would lead that somebody makes a path of: out of `refs/tags` of a repository, and elsewhere. */
const NAMES = [
  ...Array.from({ length: 8 }, (_, depth) => `${'../'.repeat(depth + 1)}reached`),
  '../../../../../secrets.key',
  '../../../../../format',
  '../../../../keys.json',
  '../meta/artifact',
  '../heads/bot',
  '../../config',
  '../../../../environments/production.git/refs/meta/artifact',
  '../../../../reached',
  '/tmp/branchpoint-reached',
  'bot-99',
  'reached',
  'a.lock',
  '.hidden',
  'x\u2028y',
] as const

/** The end of a commit's message as only a server writes it, with names that no server would give. */
export const arbitraryTrailers: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...KEYS), fc.constantFrom(...NAMES)), { maxLength: 4 })
  .map((lines) => lines.map(([key, name]) => `${key}: ${name}\n`).join(''))
