import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { makeEmptyStore } from '../empty-store.ts'
import { openSecrets } from '../../../src/access/secrets/open-secrets.ts'

const program = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))

describe('branchpoint secrets', () => {
  let store: string
  beforeEach(() => makeEmptyStore((store = mkdtempSync(join(tmpdir(), 'secrets-')))))
  afterEach(() => rmSync(store, { recursive: true, force: true }))

  const environment = () => ({ ...process.env, STORE_DIR: store, SECRETS_KEY: '' })
  function secrets(input: string | Buffer, ...args: string[]) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [program, 'secrets', ...args], {
      encoding: 'utf8',
      input,
      env: environment(),
    })
    return { stdout, stderr, status }
  }
  /** What is in the store besides the file that makes it one. */
  const stored = () => readdirSync(store).filter((name) => name !== 'format')
  const opened = () => openSecrets(nodeFs, store, undefined).of('default')

  it('sets from standard input, lists without values, removes; an open store sees it', async () => {
    const before = opened()
    expect(await before.get('OPENAI_API_KEY')).to.equal(undefined)
    const set = secrets(
      'sk-1 2\n',
      'set',
      'OPENAI_API_KEY',
      '--provider',
      'openai',
      '--base-url',
      'https://a.example/v1',
    )
    expect(set).to.deep.equal({
      stdout: `Set OPENAI_API_KEY in project "default" in the store ${store}.\n`,
      stderr: '',
      status: 0,
    })
    expect(await before.get('OPENAI_API_KEY')).to.equal('sk-1 2')
    const listed = secrets('', 'list').stdout
    expect(listed).to.match(/^NAME +PROVIDER +BASE URL/)
    expect(listed).to.match(/OPENAI_API_KEY +openai +https:\/\/a\.example\/v1 +2/)
    expect(listed).not.to.contain('sk-1')
    const { stdout } = secrets('', 'list', '--jsonl')
    expect(JSON.parse(stdout)).to.include({ name: 'OPENAI_API_KEY', provider: 'openai' })
    expect(stdout).not.to.contain('sk-1')
    expect(secrets('', 'remove', 'OPENAI_API_KEY').stdout).to.contain('Removed OPENAI_API_KEY')
    expect(await before.get('OPENAI_API_KEY')).to.equal(undefined)
    expect(secrets('', 'list').stdout).to.contain('There are no secrets')
  })

  it('processes that set the first secrets at once make one key and lose nothing', async () => {
    const names = ['A', 'B', 'C', 'D']
    const children = names.map((name) => {
      const child = spawn(process.execPath, [program, 'secrets', 'set', name], { env: environment() })
      child.stdin.end(`value of ${name}`)
      return child
    })
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number))
    expect(codes).to.deep.equal([0, 0, 0, 0])
    expect(await Promise.all(names.map((name) => opened().get(name)))).to.deep.equal(
      names.map((name) => `value of ${name}`),
    )
    expect(stored().sort()).to.deep.equal(['default', 'secrets.key'])
  })

  it('on a terminal the value is asked for, and not shown', async function () {
    // util-linux's script gives a program a terminal; it is part of every Linux, not of every system
    if (spawnSync('script', ['--version']).status !== 0) this.skip()
    const log = join(store, 'screen')
    const child = spawn('script', ['-qefc', `'${process.execPath}' '${program}' secrets set TOKEN`, log], {
      env: environment(),
    })
    let screen = ''
    child.stdout.on('data', (piece: Buffer) => {
      screen += piece.toString()
      if (piece.includes('Value of TOKEN:')) child.stdin.write('typed-by-hand\r')
    })
    expect((await once(child, 'exit'))[0]).to.equal(0)
    expect(await opened().get('TOKEN')).to.equal('typed-by-hand')
    expect(screen).to.contain('Set TOKEN in project "default" in the store')
    expect(screen + readFileSync(log, 'utf8')).not.to.contain('typed')
  })

  it('a value on the command line is refused and not shown', () => {
    const { stderr, status } = secrets('', 'set', 'TOKEN', 'sk-oops')
    expect(status).to.equal(2)
    expect(stderr).to.contain('values are not given on the command line').and.not.contain('sk-oops')
  })

  for (const [what, input, args, answer, code = 1] of [
    ['an empty value', '\n', ['set', 'A'], 'the value is empty'],
    ['what is no text', Buffer.from([0xff, 0xfe]), ['set', 'A'], 'not UTF-8'],
    ['a missing name', 'x', ['set'], 'set needs the name', 2],
    ['an unknown command', '', ['show'], 'There is no command "show"', 2],
    ['a project that is not there', 'x', ['set', 'A', '--project', 'tema'], 'there is no project "tema"'],
    ['to remove what is not there', '', ['remove', 'A'], 'there is no secret "A" in project "default"'],
  ] as [string, string | Buffer, string[], string, number?][]) {
    it(`refuses ${what} with exit code ${code} and no stack`, () => {
      const { stderr, status } = secrets(input, ...args)
      expect(status).to.equal(code)
      expect(stderr).to.contain(answer).and.not.contain('    at ')
      expect(stored()).to.deep.equal([])
    })
  }

  it('refuses a bad SECRETS_KEY without showing it', () => {
    const { stderr, status } = spawnSync(process.execPath, [program, 'secrets', 'list'], {
      encoding: 'utf8',
      env: { ...environment(), SECRETS_KEY: 'too-short' },
    })
    expect(status).to.equal(1)
    expect(stderr).to.contain('SECRETS_KEY').and.contain('32 bytes').and.not.contain('too-short')
  })
})
