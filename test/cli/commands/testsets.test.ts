import { expect } from 'chai'
import { makeEmptyStore } from '../empty-store.ts'
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { git } from '../../support/git/git-program.ts'
import { startService } from '../../support/servers/service.ts'
import { pathsBelow } from '../../support/disk/paths-below.ts'
import { xlsxFile } from '../../support/values/xlsx-file.ts'
import { isLeftover, runCommand } from './testsets/run-command.ts'
import { runHere } from '../command-here.ts'
import { withoutProgress } from '../without-progress.ts'

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint testsets', () => {
  let folder: string
  let store: string
  let env: NodeJS.ProcessEnv
  const children: ChildProcess[] = []
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'testset-command-'))
    store = join(folder, 'store')
    await makeEmptyStore(store)
    writeFileSync(join(folder, 'gitconfig'), '[user]\n\tname = Ann Example\n\temail = ann@example.org\n')
    writeFileSync(join(folder, 'a.csv'), 'country,capital\nNorway,Oslo\nPeru,Lima\n')
    env = {
      ...process.env,
      STORE_DIR: store,
      GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'),
      GIT_CONFIG_NOSYSTEM: '1',
    }
  })
  afterEach(() => {
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  /** Runs the program as a user would: in the folder, with these words. */
  function testset(args: readonly string[], more: { input?: string; env?: NodeJS.ProcessEnv } = {}) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, 'testsets', ...args], {
      cwd: folder,
      encoding: 'utf8',
      input: more.input,
      env: { ...env, ...more.env },
    })
    return { stdout, stderr: withoutProgress(stderr), status }
  }
  const imported = (slug: string) => runCommand(store, ['import', join(folder, 'a.csv'), '--slug', slug])
  const repository = (slug: string) => join(store, 'default', 'testsets', `${slug}.git`)
  const leftovers = (): string[] => pathsBelow(store).filter(isLeftover)

  it('imports a file by the author that git knows, and leaves nothing lying about', () => {
    const { stdout, stderr, status } = testset(['import', 'a.csv', '--slug', 'capitals'])
    expect([status, stderr]).to.deep.equal([0, ''])
    expect(stdout).to.match(
      /^Created capitals in the store .*: version 1, 2 rows, revision [0-9a-f-]{36}, \d+\.\d s\n$/,
    )
    expect(git(repository('capitals'), ['log', '--format=%an <%ae>', 'capitals'])).to.equal(
      'Ann Example <ann@example.org>',
    )
    expect(leftovers()).to.deep.equal([])
  })

  it('reads a file as what it is, with the options of an upload, and says what became of its rows and names', async () => {
    const write = (name: string, bytes: string | Buffer): string => {
      writeFileSync(join(folder, name), bytes)
      return join(folder, name)
    }
    const shown = (slug: string): string[] =>
      git(repository(slug), ['log', '-1', '--format=%s', slug])
        .split('\n')
        .concat(...git(repository(slug), ['show', `${slug}:columns.json`]).split('\n'))
    const table = write('rows.tsv.gz', gzipSync('q\t a\n1\t2\n1\t2\n3\t4\n'))
    expect((await runCommand(store, ['import', table, '--slug', 'tabs'])).split('\n').slice(1)).to.deep.equal(
      ['  1 equal rows collapsed', '  column " a" is called "a"'],
    )
    expect(shown('tabs')[0]).to.equal('First revision: 2 rows (1 collapsed)')
    const carets = write('rows.csv', 'q^a\n1^2\n')
    await runCommand(store, ['import', carets, '--slug', 'carets', '--delimiter', '^'])
    expect(JSON.parse(shown('carets').slice(1).join(''))).to.deep.equal(['q', 'a'])
    const row = (cell: string): string => `<row><c t="inlineStr"><is><t>${cell}</t></is></c></row>`
    const sheets = [
      ['One', row('first')],
      ['Two', row('second') + row('x')],
    ] as const
    const workbook = write('book.csv', xlsxFile({ sheets }))
    await runCommand(store, ['import', workbook, '--slug', 'book', '--sheet', 'Two'])
    expect(JSON.parse(shown('book').slice(1).join(''))).to.deep.equal(['second'])
    const empty = write('empty.jsonl', '')
    const refused = await runCommand(store, ['import', empty, '--slug', 'tabs']).catch(
      (error: Error) => error,
    )
    expect((refused as Error).message).to.match(/^The file holds no bytes, .*allow_empty=true/)
    await runCommand(store, ['import', empty, '--slug', 'tabs', '--allow-empty'])
    expect(shown('tabs')[0]).to.equal('Remove 2 rows')
    for (const args of [
      ['--delimiter', ';;'],
      ['--delimiter', '"'],
    ]) {
      const wrong = await runCommand(store, ['import', carets, '--slug', 'x', ...args]).catch(
        (error: Error) => error,
      )
      expect((wrong as Error).message).to.match(/^--delimiter: /)
    }
  })

  it('exports CSV with a byte order mark for Excel, and no other format', async () => {
    await imported('capitals')
    await runCommand(store, ['export', 'capitals', '--to', join(folder, 'bom.csv'), '--bom'])
    expect(readFileSync(join(folder, 'bom.csv'), 'utf8')).to.match(/^\ufeffcountry,capital,__id__/)
    const wrong = await runCommand(store, [
      'export',
      'capitals',
      '--to',
      join(folder, 'bom.json'),
      '--bom',
    ]).catch((error: Error) => error)
    expect((wrong as Error).message).to.match(/^--bom: /)
  })

  it("imports standard input, in the system's user name where git has none", () => {
    const { status } = testset(['import', '-', '--type', 'json', '--slug', 't'], {
      input: '[{"n": 1}]',
      env: { GIT_CONFIG_GLOBAL: '/dev/null' },
    })
    expect(status).to.equal(0)
    expect(git(repository('t'), ['log', '--format=%an', 't'])).to.equal(userInfo().username)
  })

  it('writes nothing but rows to standard output, and ends quietly when nobody reads on', async () => {
    await imported('t')
    const { stdout, stderr } = testset(['export', 't', '--type', 'jsonl'])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).country)).to.deep.equal(['Norway', 'Peru'])
    expect(stderr).to.match(/^Exported t in the store .*: version 1, 2 rows, revision /)
    const rows = Array.from({ length: 3000 }, (_, number) => `${String(number).padStart(100, 'x')}\n`)
    writeFileSync(join(folder, 'a.csv'), `n\n${rows.join('')}`)
    await imported('long')
    const command = `"$0" "$1" testsets export long | head -c 10`
    const cut = spawnSync('sh', ['-c', command, process.execPath, program], { encoding: 'utf8', env })
    expect([cut.stdout, withoutProgress(cut.stderr)]).to.deep.equal(['n,__id__,_', ''])
  })

  it('shows its rows at once in a server that runs on the store, and sees what that made', async () => {
    const service = await startService({ storeDir: store })
    try {
      await service.post('/testsets/', { testset: { slug: 'empty' } })
      // A listing is what the server may know by heart.
      expect((await service.post('/testsets/query')).body.count).to.equal(1)
      const onto = testset(['import', 'a.csv', '--slug', 'empty', '--message', 'Fill'])
      expect(onto.stdout).to.match(
        /^Committed to empty on its variant empty in the store .*: version 1, 2 rows, /,
      )
      expect(testset(['import', 'a.csv', '--slug', 'fresh']).stdout).to.match(/^Created fresh in the store /)
      const { body } = await service.post('/testsets/query')
      expect(body.testsets.map((it: { slug: string }) => it.slug)).to.deep.equal(['empty', 'fresh'])
      for (const slug of ['empty', 'fresh']) {
        const answer = await service.post('/testsets/revisions/retrieve', { testset_ref: { slug } })
        const revision = answer.body.testset_revision
        expect(revision.author).to.equal('Ann Example <ann@example.org>')
        expect(revision.data.testcases).to.have.length(2)
      }
    } finally {
      await service.stop({ keepStore: true })
    }
  })

  it('stores nothing when it is interrupted, in a testset that is there or in a new one', async () => {
    await imported('there')
    const head = git(repository('there'), ['rev-parse', 'there'])
    const rows = Array.from({ length: 5000 }, (_, row) => `${row},${row ** 7 % 999_983} ${row ** 5}\n`)
    const imports = ['there', 'new'].map((slug) => {
      const child = spawn(
        process.execPath,
        [program, 'testsets', 'import', '-', '--type', 'csv', '--slug', slug],
        {
          env,
        },
      )
      children.push(child)
      let said = ''
      child.stderr.on('data', (chunk) => (said += chunk))
      // Left open: more could come.
      child.stdin.write(`a,b\n${rows.join('')}`)
      return { child, closed: once(child, 'close'), said: () => said }
    })
    // So many rows that both have begun a pack.
    while (leftovers().filter((path) => path.endsWith('_pack')).length < 2) await pause(10)
    for (const { child } of imports) child.kill('SIGINT')
    for (const { closed, said } of imports) {
      expect(await closed).to.deep.equal([130, null])
      expect(withoutProgress(said())).to.equal('Stopped; nothing was stored.\n')
    }
    expect(readdirSync(join(store, 'default', 'testsets'))).to.deep.equal(['there.git'])
    expect(git(repository('there'), ['rev-parse', 'there'])).to.equal(head)
    expect(leftovers()).to.deep.equal([])
  })

  it('explains a command', async () => {
    const { stdout, code } = await runHere(['testsets', 'import', '--help'], { cwd: folder, env })
    expect(code).to.equal(0)
    expect(stdout).to.contain('testsets import FILE').and.contain('user.name').and.not.contain('export SLUG')
  })

  for (const [what, code, args, answer] of [
    ['an unknown command', 2, ['destroy'], /^There is no command "destroy"\.\n\n[^]*export SLUG/],
    ['a bad file', 1, ['import', 'gitconfig', '--type', 'jsonl', '--slug', 'x'], /^Line 1, column 1: .*\n$/],
  ] as const) {
    it(`refuses ${what} with exit code ${code} and no stack`, async () => {
      const { stdout, stderr, code: ended } = await runHere(['testsets', ...args], { cwd: folder, env })
      expect([ended, stdout]).to.deep.equal([code, ''])
      expect(stderr)
        .to.match(answer)
        .and.not.match(/^    at /m)
    })
  }
})
