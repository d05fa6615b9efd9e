import { expect } from 'chai'
import { makeEmptyStore } from '../../empty-store.ts'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { git } from '../../../support/git/git-program.ts'
import { isLeftover, runCommand } from './run-command.ts'

const CSV = 'country,capital\nNorway,Oslo\nPeru,"Lima\nCallao"\nMali,=1+1\n'
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

describe('files into testsets and out of them', () => {
  let folder: string
  let store: string
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'round-trip-'))
    store = join(folder, 'store')
    await makeEmptyStore(store)
    write('a.csv', CSV)
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const path = (name: string): string => join(folder, name)
  const write = (name: string, text: string | Buffer): void => writeFileSync(path(name), text)
  const imported = (name: string, slug: string, ...more: string[]): Promise<string> =>
    runCommand(store, ['import', path(name), '--slug', slug, ...more])
  const exported = (slug: string, name: string, ...more: string[]): Promise<string> =>
    runCommand(store, ['export', slug, '--to', path(name), ...more])
  const inRepository = (slug: string, ...args: string[]): string =>
    git(join(store, 'default', 'testsets', `${slug}.git`), args)
  /** The rows in order, whichever testset and revision they are of. */
  const rowsAt = (slug: string, revision = slug): string =>
    inRepository(slug, 'rev-parse', `${revision}:testcases`)

  it('an import makes a testset if its slug is free, and a revision of the default variant if it is not', async () => {
    expect(await imported('a.csv', 'towns', '--name', 'Towns', '--message', 'Begin')).to.match(
      new RegExp(`^Created towns in the store .*: version 1, 3 rows, revision ${UUID}, \\d+\\.\\d s$`),
    )
    write('b.jsonl', '{"country":"Chad"}\n')
    expect(await imported('b.jsonl', 'towns', '--name', 'Cities', '--message', 'Go on')).to.match(
      /^Committed to towns on its variant towns in the store .*: version 2, 1 row, /,
    )
    expect(await imported('b.jsonl', 'towns', '--if-changed')).to.match(
      /^Nothing changed in towns on its variant towns in the store .*: version 2, 1 row, /,
    )
    expect(inRepository('towns', 'log', '--format=%s', 'towns')).to.equal('Go on\nBegin')
    expect(inRepository('towns', 'show', 'refs/meta/artifact:artifact.json')).to.contain('"Cities"')
    inRepository('towns', 'fsck', '--strict')
    expect(readdirSync(store, { recursive: true, encoding: 'utf8' }).filter(isLeftover)).to.deep.equal([])
  })

  it('an import makes the project that is named, and no other', async () => {
    await imported('a.csv', 'towns', '--project', 'team')
    expect(readdirSync(store).filter((name) => !/^(\.|format$)/.test(name))).to.deep.equal(['team'])
    expect(await exported('towns', 'out.csv', '--project', 'team')).to.contain('3 rows')
  })

  it('an import inflates .gz, and infers the types of cells only if asked to', async () => {
    write('n.json', '[{"n": 1}]')
    write('n.csv.gz', gzipSync('n\n1\n'))
    await imported('n.json', 'json')
    await imported('n.csv.gz', 'texts')
    await imported('n.csv.gz', 'numbers', '--infer')
    expect(rowsAt('numbers')).to.equal(rowsAt('json'))
    expect(rowsAt('texts')).not.to.equal(rowsAt('json'))
  })

  for (const name of ['out.csv', 'out.json', 'out.jsonl', 'out.ndjson.gz']) {
    it(`${name} gives equal rows when it is imported, into a new testset or the same`, async () => {
      await imported('a.csv', 'from')
      expect(await exported('from', name)).to.match(
        new RegExp(`^Exported from in the store .*: version 1, 3 rows, revision ${UUID}, \\d+\\.\\d s$`),
      )
      await imported(name, 'into')
      expect(rowsAt('into')).to.equal(rowsAt('from'))
      await imported(name, 'from')
      expect(rowsAt('from')).to.equal(rowsAt('from', 'from~1'))
    })
  }

  it('an export takes the revision that is asked for', async () => {
    write('b.csv', 'country\nChad\n')
    const first = new RegExp(UUID).exec(await imported('a.csv', 't'))?.[0] ?? ''
    await imported('b.csv', 't')
    inRepository('t', 'update-ref', 'refs/heads/side', 't~1')
    const firstCountry = async (...args: string[]): Promise<string> => {
      await exported('t', 'out.jsonl', '--force', ...args)
      return JSON.parse(readFileSync(path('out.jsonl'), 'utf8').split('\n')[0] ?? '').country
    }
    expect(await firstCountry()).to.equal('Chad')
    for (const args of [
      ['--version', '1'],
      ['--revision', first],
      ['--revision', first.toUpperCase()],
      ['--revision', 't-1'],
      ['--variant', 'side'],
      ['--variant', 't', '--version', '1'],
    ]) {
      expect(await firstCountry(...args), args.join(' ')).to.equal('Norway')
    }
  })

  it('an export escapes formulas only if asked to', async () => {
    await imported('a.csv', 't')
    await exported('t', 'plain.csv')
    expect(readFileSync(path('plain.csv'), 'utf8')).to.contain('\r\nMali,=1+1,')
    await exported('t', 'escaped.csv', '--escape-formulas')
    expect(readFileSync(path('escaped.csv'), 'utf8')).to.contain("\r\nMali,'=1+1,")
  })

  it('an export replaces a file with --force', async () => {
    await imported('a.csv', 't')
    write('there.jsonl.gz', 'mine')
    await exported('t', 'there.jsonl.gz', '--force')
    expect(gunzipSync(readFileSync(path('there.jsonl.gz'))).toString()).to.contain('Norway')
    expect(readdirSync(folder).sort()).to.deep.equal(['a.csv', 'store', 'there.jsonl.gz'])
  })

  it('a bad file changes nothing in the testset that is there, nor makes one', async () => {
    await imported('a.csv', 'there')
    const head = inRepository('there', 'rev-parse', 'there')
    write('bad.csv', 'a,b\n1,2\n1,"2\n')
    for (const slug of ['there', 'new']) {
      const error = await imported('bad.csv', slug).catch((it: Error) => it)
      expect(String(error)).to.contain('Line 3, column 3: ')
    }
    expect(readdirSync(join(store, 'default', 'testsets'))).to.deep.equal(['there.git'])
    expect(inRepository('there', 'rev-parse', 'there')).to.equal(head)
    expect(readdirSync(store, { recursive: true, encoding: 'utf8' }).filter(isLeftover)).to.deep.equal([])
  })
})
