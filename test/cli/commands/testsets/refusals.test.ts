import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect } from 'chai'
import { makeEmptyStore } from '../../empty-store.ts'
import { startService } from '../../../support/servers/service.ts'
import { isIndex } from '../../../support/disk/paths-below.ts'
import { runCommand } from './run-command.ts'

describe('files into testsets and out of them are refused:', () => {
  let folder: string
  let store: string
  let other: string
  const path = (name: string): string => join(folder, name)

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'testset-refusals-'))
    store = path('store')
    await makeEmptyStore(store)
    mkdirSync(path('folder.csv'))
    writeFileSync(path('a.csv'), 'a\n1\n2\n3\n')
    writeFileSync(path('rows.txt'), 'a\n1\n')
    writeFileSync(path('cut.csv.gz'), gzipSync('a\n1\n').subarray(0, 12))
    writeFileSync(path('bomb.csv.gz'), gzipSync(Buffer.alloc(4_000_000, 'a')))
    writeFileSync(path('object.json'), '{"a": 1}')
    await run(['import', path('a.csv'), '--slug', 'Capitals'])
    other = /revision (\S+),/.exec(await run(['import', path('a.csv'), '--slug', 'other']))?.[1] ?? ''
    await run(['import', path('a.csv'), '--slug', 'old'])
    const service = await startService({ storeDir: store })
    const { body } = await service.post('/testsets/query', { testset: { slug: 'old' } })
    await service.post(`/testsets/${body.testsets[0].id}/archive`)
    await service.stop({ keepStore: true })
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const run = (args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string> =>
    runCommand(store, args, env)

  /** Everything the store holds: what a refusal must leave as it is. */
  const contents = (): string[] =>
    readdirSync(store, { recursive: true, encoding: 'utf8' })
      .filter((name) => !/\/changes$/.test(name) && !isIndex(name))
      .sort()

  const refusals: readonly (readonly [
    what: string,
    args: () => readonly string[],
    answer: string | RegExp,
    env?: Readonly<Record<string, string>>,
  ])[] = [
    [
      'no file',
      () => ['import', '--slug', 'x'],
      'The file to import is missing.\n\nbranchpoint testsets import',
    ],
    ['no slug', () => ['import', path('a.csv')], 'import needs --slug.\n\nbranchpoint testsets import'],
    ['an unknown option', () => ['import', 'a', '--all'], "Unknown option '--all'"],
    ['two files', () => ['import', 'a', 'b', '--slug', 'x'], '"b" is one word too many.'],
    [
      'an option without its value',
      () => ['import', 'a', '--slug'],
      "Option '--slug <value>' argument missing",
    ],
    [
      'an ill-formed slug',
      () => ['import', path('a.csv'), '--slug', 'a b'],
      '--slug: the slug "a b" may hold only',
    ],
    [
      'a slug that is taken but for its case',
      () => ['import', path('a.csv'), '--slug', 'capitals'],
      'The artifact slug "capitals" is taken',
    ],
    [
      'an archived testset',
      () => ['import', path('a.csv'), '--slug', 'old'],
      'The artifact "old" was archived at',
    ],
    [
      'an unknown type',
      () => ['import', path('a.csv'), '--slug', 'x', '--type', 'xml'],
      '--type: "xml" is not a type of file; give one of csv, json, jsonl, xlsx.',
    ],
    [
      'a name without a type',
      () => ['import', path('rows.txt'), '--slug', 'x'],
      /^--type: say whether .*rows\.txt" does not tell\.$/,
    ],
    ['standard input without a type', () => ['import', '-', '--slug', 'x'], '--type: say whether'],
    [
      'a file that is not there',
      () => ['import', path('no.csv'), '--slug', 'x'],
      /no\.csv" cannot be read: no such file or directory\.$/,
    ],
    [
      'a folder',
      () => ['import', path('folder.csv'), '--slug', 'x'],
      /folder\.csv" is a folder; name a file of rows\.$/,
    ],
    [
      'a cut gzip file',
      () => ['import', path('cut.csv.gz'), '--slug', 'x'],
      'The file does not decompress: it begins as gzip does, and is cut off or damaged',
    ],
    ['no gzip file', () => ['import', path('a.csv'), '--slug', 'x', '--type', 'json'], 'Line 1, column 1: '],
    [
      'a JSON file that is no array',
      () => ['import', path('object.json'), '--slug', 'x'],
      'Line 1, column 1: ',
    ],
    [
      'a file past the limit',
      () => ['import', path('bomb.csv.gz'), '--slug', 'x'],
      'The file unpacks to more than 2000000 bytes, the limit for a file (UPLOAD_MAX_BYTES)',
      { UPLOAD_MAX_BYTES: '2000000' },
    ],
    [
      'too many rows',
      () => ['import', path('a.csv'), '--slug', 'x'],
      'A testset holds at most 2 rows',
      { TESTSET_MAX_ROWS: '2' },
    ],
    [
      'an ill-formed project',
      () => ['import', path('a.csv'), '--slug', 'x', '--project', '../x'],
      'project: "../x" is not a project name',
    ],
    [
      'an export of nothing',
      () => ['export'],
      'The slug of the testset to export is missing.\n\nbranchpoint testsets export',
    ],
    ['an unknown testset', () => ['export', 'ghost'], 'There is no testset with the slug "ghost".'],
    [
      'an unknown testset and version',
      () => ['export', 'ghost', '--version', '1'],
      'There is no testset with the slug "ghost".',
    ],
    [
      'an unknown version',
      () => ['export', 'other', '--version', '7'],
      'There is no revision with version 7 on the variant "other"',
    ],
    [
      'what is no version',
      () => ['export', 'other', '--version', '1.5'],
      '--version: "1.5" is not a version; give a whole number from 1 on.',
    ],
    [
      'an unknown variant',
      () => ['export', 'other', '--variant', 'side'],
      'There is no testset variant with the slug "side".',
    ],
    [
      'an unknown revision',
      () => ['export', 'other', '--revision', 'side-1'],
      'There is no revision with the slug "side-1"',
    ],
    [
      'an unknown revision id',
      () => ['export', 'other', '--revision', `11111111-1111-8111-8111-${other.slice(-12)}`],
      'There is no revision with the id ',
    ],
    [
      'a revision of another testset',
      () => ['export', 'Capitals', '--revision', other],
      '--revision: it is a revision of the testset "other", not of "Capitals".',
    ],
    [
      'a revision beside a version',
      () => ['export', 'other', '--revision', other, '--version', '1'],
      '--revision says which one; leave out --version and --variant.',
    ],
    [
      'a revision beside a variant',
      () => ['export', 'other', '--revision', other, '--variant', 'other'],
      '--revision says which one',
    ],
    [
      'a file that exists',
      () => ['export', 'other', '--to', path('a.csv')],
      /a\.csv" exists; add --force to replace it\.$/,
    ],
    [
      'a folder to write to',
      () => ['export', 'other', '--to', path('folder.csv'), '--force'],
      /folder\.csv" is there and is not a file; name another one\.$/,
    ],
    [
      'a folder that is not there',
      () => ['export', 'other', '--to', path('none/a.csv')],
      /none\/a\.csv" cannot be written: no such file or directory\.$/,
    ],
    [
      'a name to write to without a type',
      () => ['export', 'other', '--to', path('a.txt')],
      /^--type: say whether .*a\.txt" does not tell\.$/,
    ],
    [
      'an unknown project',
      () => ['export', 'other', '--project', 'ghosts'],
      /^The store at .* has no project "ghosts"\.$/,
    ],
    [
      'an export without a store',
      () => ['export', 'other'],
      'There is no store at /no/store.',
      { STORE_DIR: '/no/store' },
    ],
  ]

  for (const [what, args, answer, env] of refusals) {
    it(`${what}, and leaves everything as it was`, async () => {
      const before = { contents: contents(), files: readdirSync(folder) }
      const sentence = await run(args(), env).then(
        (line) => expect.fail(`it went through: ${line}`),
        (error: Error) => error.message,
      )
      if (typeof answer === 'string') expect(sentence).to.contain(answer)
      else expect(sentence).to.match(answer)
      expect({ contents: contents(), files: readdirSync(folder) }).to.deep.equal(before)
    })
  }

  it('an author that git cannot write down', async () => {
    const setting = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'A <b>' }
    Object.assign(process.env, setting)
    try {
      const error = await run(['import', path('a.csv'), '--slug', 'x']).catch((it: Error) => it)
      expect(String(error)).to.contain('"A <b>" holds "<"').and.contain('git config user.name')
    } finally {
      for (const name of Object.keys(setting)) delete process.env[name]
    }
  })
})
