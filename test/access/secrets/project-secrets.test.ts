import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import { Refusal } from '../../../src/errors.ts'
import type { Fs } from '../../../src/storage/files/fs.ts'
import { memoryFs } from '../../../src/storage/memory-fs.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { openSecrets } from '../../../src/access/secrets/open-secrets.ts'
import type { ProjectSecrets } from '../../../src/access/secrets/project-secrets.ts'
import { failingFs } from '../../support/disk/failing-fs.ts'
import { makeStoreKey, parseSecretsKey } from '../../../src/access/secrets/secrets-key.ts'

const VALUE = 'sk-ünreadable-0123456789'

async function refusalOf(work: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await work.then(
    () => undefined,
    (it: unknown) => it,
  )
  if (error instanceof Refusal) return error
  throw new Error(`not refused: ${String(error)}`)
}

describe('secrets: a project', () => {
  let dir: string
  let secrets: ProjectSecrets
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'secrets-'))
    secrets = open()
  })
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  const open = (key?: string, project = 'team') =>
    openSecrets(nodeFs, dir, key === undefined ? undefined : parseSecretsKey(key)).of(project)
  const file = () => join(dir, 'team', 'secrets.json')
  /** Changes the file as an editor would: under the same name, another inode. */
  const rewrite = async (change: (content: string) => string) => {
    const content = change(readFileSync(file(), 'utf8'))
    rmSync(file())
    await nodeFs.createSynced(file(), Buffer.from(content))
  }

  // interface 14.3
  it('gives back what was set, and nothing of it can be read in the store', async () => {
    await secrets.set('OPENAI_API_KEY', VALUE)
    expect(await secrets.get('OPENAI_API_KEY')).to.equal(VALUE)
    expect(await secrets.get('OTHER')).to.equal(undefined)
    const bytes = readFileSync(file())
    expect(bytes.includes(VALUE)).to.equal(false)
    expect(bytes.includes(Buffer.from(VALUE).toString('base64').slice(0, 20))).to.equal(false)
  })

  it('the file and the key are for their owner only, and nothing else is left behind', async () => {
    await secrets.set('A', VALUE)
    expect(statSync(file()).mode & 0o777).to.equal(0o600)
    expect(statSync(join(dir, 'secrets.key')).mode & 0o777).to.equal(0o600)
    expect(readdirSync(dir).sort()).to.deep.equal(['secrets.key', 'team'])
    expect(readdirSync(join(dir, 'team')).sort()).to.deep.equal(['locks', 'secrets.json'])
    expect(readdirSync(join(dir, 'team', 'locks'))).to.deep.equal([])
  })

  it('the key is made when the first secret is set, not before', async () => {
    expect(await secrets.get('A')).to.equal(undefined)
    expect(await secrets.list()).to.deep.equal([])
    expect(await secrets.remove('A')).to.equal(false)
    expect(readdirSync(dir)).to.deep.equal([])
  })

  it('a configured key is used, in base64 and in hex, and none is made', async () => {
    const bytes = randomBytes(32)
    await open(bytes.toString('base64')).set('A', VALUE)
    expect(await open(bytes.toString('hex')).get('A')).to.equal(VALUE)
    expect(readdirSync(dir)).to.deep.equal(['team'])
  })

  it('lists names, purposes and dates, sorted, without values', async () => {
    await secrets.set('b', VALUE, { provider: 'openai', baseUrl: 'https://gateway.example/v1' })
    await secrets.set('a', VALUE)
    const first = await secrets.list()
    expect(first.map(({ name }) => name)).to.deep.equal(['a', 'b'])
    expect(first[1]).to.include({ provider: 'openai', baseUrl: 'https://gateway.example/v1' })
    expect(JSON.stringify(first)).not.to.contain(VALUE)
    await secrets.set('b', 'other')
    const [, again] = await secrets.list()
    expect(again?.createdAt).to.equal(first[1]?.createdAt)
    expect(Date.parse(again?.updatedAt ?? '')).to.be.at.least(Date.parse(first[1]?.updatedAt ?? ''))
    expect(again).not.to.have.any.keys('provider', 'baseUrl')
  })

  it('an open project sees what others set, replace and remove', async () => {
    expect(await secrets.get('A')).to.equal(undefined)
    const other = open()
    await other.set('A', 'one')
    expect(await secrets.get('A')).to.equal('one')
    await other.set('A', 'two')
    expect(await secrets.get('A')).to.equal('two')
    expect(await other.remove('A')).to.equal(true)
    expect(await secrets.get('A')).to.equal(undefined)
  })

  it('many at once lose none of each other, and agree on one key', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `N${index}`)
    // Each opens the store for itself, as a process would.
    await Promise.all(names.map((name, index) => open(undefined, `p${index % 3}`).set(name, `v-${name}`)))
    const found = await Promise.all(names.map((name, index) => open(undefined, `p${index % 3}`).get(name)))
    expect(found).to.deep.equal(names.map((name) => `v-${name}`))
  })

  it('whoever makes a key where one is already answers that one', async () => {
    const first = await makeStoreKey(nodeFs, dir)
    expect((await makeStoreKey(nodeFs, dir)).id).to.equal(first.id)
    expect(readdirSync(dir)).to.deep.equal(['secrets.key'])
  })

  it('another key is refused by the name of its variable, for reading and for writing, and nothing is lost', async () => {
    const [right, wrong] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
    await open(right).set('A', VALUE)
    const before = readFileSync(file())
    const reading = await refusalOf(open(wrong).get('A'))
    expect(reading.code).to.equal('storage_unavailable')
    expect(reading.message).to.contain('another key than the one in SECRETS_KEY')
    expect((await refusalOf(open(wrong).set('B', 'x'))).message).to.contain('SECRETS_KEY')
    expect((await refusalOf(open().get('A'))).message).to.contain('Set SECRETS_KEY')
    expect((await refusalOf(open().set('B', 'x'))).message).to.contain('Set SECRETS_KEY')
    expect(readFileSync(file())).to.deep.equal(before)
    expect(await open(right).get('A')).to.equal(VALUE)
  })

  it('a store that lost its key is not given another in silence, for no project', async () => {
    await secrets.set('A', VALUE)
    rmSync(join(dir, 'secrets.key'))
    expect((await refusalOf(open(undefined, 'other').set('B', 'x'))).message).to.contain('Project "team"')
    expect(readdirSync(dir)).not.to.contain('secrets.key')
    // Names can still be seen, and once what cannot be read is removed, all begins anew.
    expect((await secrets.list()).map(({ name }) => name)).to.deep.equal(['A'])
    expect(await secrets.remove('A')).to.equal(true)
    await secrets.set('A', 'new')
    expect(await open().get('A')).to.equal('new')
  })

  it('a key file that holds no key is refused by its path', async () => {
    await nodeFs.createSynced(join(dir, 'secrets.key'), Buffer.from('hello\n'))
    expect((await refusalOf(secrets.set('A', VALUE))).message)
      .to.contain(join(dir, 'secrets.key'))
      .and.contain('SECRETS_KEY')
  })

  it('a damaged entry is refused by its name; the others are read, and setting it anew repairs it', async () => {
    await secrets.set('A', VALUE)
    await secrets.set('B', 'fine')
    await rewrite((content) =>
      content.replace(
        /("name": "A"[^}]*"sealed": "..)(.)/s,
        (_, start, c) => start + (c === 'x' ? 'y' : 'x'),
      ),
    )
    expect((await refusalOf(secrets.get('A'))).message)
      .to.contain('The secret A in')
      .and.contain('secrets set A --project team')
    expect(await secrets.get('B')).to.equal('fine')
    await secrets.set('C', 'third')
    await refusalOf(secrets.get('A'))
    await secrets.set('A', VALUE)
    expect(await Promise.all(['A', 'B', 'C'].map((name) => secrets.get(name)))).to.deep.equal([
      VALUE,
      'fine',
      'third',
    ])
  })

  it('an entry does not open under another name, for another URL or in another project', async () => {
    await secrets.set('A', VALUE, { provider: 'openai', baseUrl: 'https://api.example/v1' })
    const original = readFileSync(file(), 'utf8')
    for (const [from, to] of [
      ['"A"', '"B"'],
      ['https://api.example', 'https://evil.example'],
      ['"openai"', '"mistral"'],
    ] as const) {
      await rewrite(() => original.replace(from, to))
      const [record] = await secrets.list()
      await refusalOf(secrets.get(record?.name ?? ''))
    }
    nodeFs.makeDir(join(dir, 'other'))
    await nodeFs.createSynced(join(dir, 'other', 'secrets.json'), Buffer.from(original))
    await refusalOf(open(undefined, 'other').get('A'))
  })

  it('a file that is none is refused by its path, and not written over', async () => {
    await secrets.set('A', VALUE)
    await rewrite((content) => content.slice(0, 40))
    const cut = readFileSync(file())
    for (const work of [secrets.get('A'), secrets.list(), secrets.set('B', 'x')])
      expect((await refusalOf(work)).message).to.contain(file())
    expect(readFileSync(file())).to.deep.equal(cut)
  })

  for (const [what, name, value, purpose, says] of [
    ['a name with a space', 'A B', 'x', {}, '"A B" is not the name'],
    ['a name that begins with a digit', '1A', 'x', {}, 'begin'],
    ['a name of 101 letters', 'A'.repeat(101), 'x', {}, '1 to 100'],
    ['an empty value', 'A', '', {}, 'empty'],
    ['more than 64 KiB', 'A', 'é'.repeat(32 * 1024 + 1), {}, '65538 bytes'],
    ['a bad provider', 'A', 'x', { provider: 'Open AI' }, 'not a provider'],
    ['a base URL with a password', 'A', 'x', { baseUrl: 'https://me:pw@a.example' }, 'without user'],
    ['a base URL of no web', 'A', 'x', { baseUrl: 'file:///etc' }, 'http or https'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const refusal = await refusalOf(secrets.set(name, value, purpose))
      expect(refusal.code).to.equal('invalid_request')
      expect(refusal.message).to.contain(says).and.not.contain('pw')
      expect(readdirSync(dir)).to.deep.equal([])
    })
  }
})

describe('secrets: a disk that fails', () => {
  /** Sets B on a store that `prepare` made, with a disk that fails at the n-th call, for every n; then without. */
  const failingAt = async (
    prepare: (fs: Fs) => Promise<void>,
    expected: Readonly<Record<string, string>>,
  ) => {
    for (let n = 1; ; n++) {
      const memory = memoryFs()
      memory.makeDir('/store')
      await prepare(memory)
      const disk = failingFs(memory)
      const calls: string[] = []
      // Even a full disk removes files.
      disk.failIf((call, path) => call !== 'remove' && calls.push(`${call} ${path}`) === n)
      const failed = await openSecrets(disk.fs, '/store', undefined)
        .of('p')
        .set('B', 'new')
        .then(
          () => false,
          () => true,
        )
      disk.failIf(() => false)
      const secrets = openSecrets(memory, '/store', undefined).of('p')
      for (const [name, value] of Object.entries(expected))
        expect(await secrets.get(name), calls[n - 1]).to.equal(value)
      if (!failed) expect(await secrets.get('B')).to.equal('new')
      await secrets.set('B', 'newer')
      expect(await secrets.get('B'), calls[n - 1]).to.equal('newer')
      if (calls.length < n) return calls
    }
  }

  it('never loses what was there, and what was refused can be done again', async () => {
    const calls = await failingAt(
      async (fs) => void (await openSecrets(fs, '/store', undefined).of('p').set('A', 'old')),
      { A: 'old' },
    )
    expect(calls.length).to.be.greaterThan(3)
  })

  it('the first secret is there only once its key is certainly there', async () => {
    const calls = await failingAt(async () => undefined, {})
    const keyIsThere = calls.lastIndexOf('syncDir /store')
    expect(keyIsThere).to.be.greaterThan(calls.findIndex((call) => call === 'link /store/secrets.key'))
    expect(calls.indexOf('rename /store/p/secrets.json')).to.be.greaterThan(keyIsThere)
    expect(calls.at(-1)).to.equal('syncDir /store/p')
  })
})

describe('secrets: any name and value', () => {
  it('come back as they were, on a disk in memory too', async () => {
    const fs: Fs = memoryFs()
    fs.makeDir('/store')
    const name = fc.oneof(
      fc.constantFrom('__proto__', 'constructor', 'toString'),
      fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,20}$/),
    )
    const value = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 })
    const all = new Map<string, string>()
    await fc.assert(
      fc.asyncProperty(name, value, async (key, text) => {
        all.set(key, text)
        await openSecrets(fs, '/store', undefined).of('p').set(key, text)
      }),
      { numRuns: 40 },
    )
    const opened = openSecrets(fs, '/store', undefined).of('p')
    for (const [key, text] of all) expect(await opened.get(key)).to.equal(text)
    expect(await opened.list()).to.have.length(all.size)
  })
})
