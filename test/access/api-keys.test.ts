import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createApiKey, createFirstApiKey, listApiKeys, revokeApiKey } from '../../src/access/keys/api-keys.ts'
import { type Authenticate, openKeyRing } from '../../src/access/keys/authenticator.ts'
import { callerWith } from '../../src/access/keys/caller.ts'
import { requireScope } from '../../src/access/keys/scope.ts'
import { Refusal } from '../../src/errors.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'

describe('API keys', () => {
  let store: string
  let damage: unknown[]

  beforeEach(() => {
    store = mkdtempSync(join(tmpdir(), 'keys-'))
    damage = []
  })
  afterEach(() => rmSync(store, { recursive: true, force: true }))

  const authenticator = (adminToken?: string): Authenticate =>
    openKeyRing({ fs: nodeFs, storeDir: store, adminToken, onDamage: (error) => damage.push(error) }).callerOf
  const create = (name: string, scopes: readonly string[] = ['read'], project = 'default', email?: string) =>
    createApiKey(nodeFs, store, { project, name, scopes, email })

  it('makes tokens of 32 random bytes and keeps only their hash', async () => {
    const { key, token } = await create('ci', ['write', 'read'])
    expect(token).to.match(/^svc_[A-Za-z0-9_-]{43}$/)
    expect(key).to.include({ name: 'ci', email: 'ci@branchpoint.local', last4: token.slice(-4) })
    expect(key.scopes).to.deep.equal(['read', 'write'])
    const text = readFileSync(join(store, 'default/keys.json'), 'utf8')
    expect(text).to.contain(key.id).and.not.contain(token.slice(4, -4))
    expect(readdirSync(join(store, 'default'))).to.have.members(['keys.json', 'locks'])
  })

  it('tells who holds a token, in whichever project', async () => {
    const one = await create('one', ['read'], 'alpha')
    const two = await create('two', ['admin'], 'beta', 'two@example.org')
    const callerOf = authenticator()
    const key = { id: one.key.id, name: 'one', email: 'one@branchpoint.local', scopes: ['read'] } as const
    expect(callerOf(one.token)).to.deep.equal(callerWith('alpha', key))
    expect(callerOf(two.token)?.project).to.equal('beta')
    expect(callerOf(two.token)?.key.email).to.equal('two@example.org')
    expect(callerOf(`${two.token}x`)).to.equal(undefined)
    expect(callerOf('')).to.equal(undefined)
  })

  it('accepts and refuses what another process made or revoked, from the next call on', async () => {
    const callerOf = authenticator()
    expect(callerOf('svc_nobody')).to.equal(undefined)
    const { token, key } = await create('late', ['read'], 'brand-new')
    expect(callerOf(token)?.key.id).to.equal(key.id)
    await create('another', ['read'], 'brand-new')
    expect(callerOf(token)?.key.id).to.equal(key.id)
    await revokeApiKey(nodeFs, store, 'brand-new', { name: 'late' })
    expect(callerOf(token)).to.equal(undefined)
    expect(callerOf(token)).to.equal(undefined)
  })

  it('takes SVC_API_KEY as an admin key of project default with an id that stays', () => {
    const caller = authenticator('letmein')('letmein')
    expect(caller).to.deep.equal(authenticator('letmein')('letmein'))
    expect(caller?.project).to.equal('default')
    expect(caller?.key).to.include({ name: 'admin', email: 'admin@branchpoint.local' })
    expect(caller?.key.scopes).to.deep.equal(['admin'])
    expect(authenticator()('letmein')).to.equal(undefined)
  })

  it('makes a first admin key only in a store that never had a key', async () => {
    const first = await createFirstApiKey(nodeFs, store)
    expect(first?.key).to.include({ name: 'admin' })
    expect(authenticator()(first?.token ?? '')?.project).to.equal('default')
    expect(await createFirstApiKey(nodeFs, store)).to.equal(undefined)
    await revokeApiKey(nodeFs, store, 'default', { name: 'admin' })
    expect(await createFirstApiKey(nodeFs, store)).to.equal(undefined)
  })

  it('makes one first key when several servers start at once', async () => {
    const made = await Promise.all([1, 2, 3].map(() => createFirstApiKey(nodeFs, store)))
    expect(made.filter((key) => key !== undefined)).to.have.length(1)
    expect(listApiKeys(nodeFs, store, 'default')).to.have.length(1)
  })

  it('loses no key when many are made at once', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, n) => create(`key ${n}`)))
    expect(listApiKeys(nodeFs, store, 'default').map(({ name }) => name)).to.have.length(20)
  })

  it('revokes by id or name, keeps the record, and frees the name', async () => {
    const { key } = await create('ci')
    const revoked = await revokeApiKey(nodeFs, store, 'default', { id: key.id })
    expect(revoked.revoked_at).to.match(/^\d{4}-.*Z$/)
    await create('ci')
    expect(
      listApiKeys(nodeFs, store, 'default').map(({ revoked_at }) => revoked_at !== undefined),
    ).to.deep.equal([true, false])
    expect(await refusalOf(revokeApiKey(nodeFs, store, 'default', { id: key.id }))).to.contain(
      'its live keys are ci',
    )
    expect(await refusalOf(revokeApiKey(nodeFs, store, 'empty', { name: 'x' }))).to.contain('no live keys')
  })

  it('lets two live keys have one name, which then is not enough to revoke one', async () => {
    const [one, two] = [await create('ci'), await create('ci')]
    const sentence = await refusalOf(revokeApiKey(nodeFs, store, 'default', { name: 'ci' }))
    expect(sentence).to.contain(one.key.id).and.contain(two.key.id)
    await revokeApiKey(nodeFs, store, 'default', { id: one.key.id })
    expect((await revokeApiKey(nodeFs, store, 'default', { name: 'ci' })).id).to.equal(two.key.id)
  })

  it('passes over a key that has expired by its name, and finds it by its id', async () => {
    const old = { project: 'default', name: 'ci', scopes: ['read'], expiresAt: '2020-01-02' }
    const { key, token } = await createApiKey(nodeFs, store, old, new Date('2020-01-01'))
    expect(key.expires_at).to.equal('2020-01-02T00:00:00.000Z')
    const { key: live } = await create('ci')
    const { callerOf } = openKeyRing({ fs: nodeFs, storeDir: store, onDamage: (error) => damage.push(error) })
    expect(() => callerOf(token)).to.throw('"ci" expired at 2020-01-02')
    expect((await revokeApiKey(nodeFs, store, 'default', { name: 'ci' })).id).to.equal(live.id)
    expect(await refusalOf(revokeApiKey(nodeFs, store, 'default', { name: 'ci' }))).to.contain('no live key')
    expect((await revokeApiKey(nodeFs, store, 'default', { id: key.id })).id).to.equal(key.id)
    expect(callerOf(token)).to.equal(undefined)
    expect(damage).to.deep.equal([])
  })

  it('does not count an admin key that has expired as one that is left', async () => {
    const old = { project: 'default', name: 'old', scopes: ['admin'], expiresAt: '2020-01-02' }
    await createApiKey(nodeFs, store, old, new Date('2020-01-01'))
    const { key } = await create('last', ['admin'])
    const revoke = (id: string) => revokeApiKey(nodeFs, store, 'default', { id }, { mayLeaveNone: false })
    expect(await refusalOf(revoke(key.id))).to.contain('last live key')
  })

  for (const [what, name, email] of [
    ['an empty name', '  ', undefined],
    ['a name with <', 'a<b', undefined],
    ['a name with >', 'a>b', undefined],
    ['a name with a line break', 'a\nb', undefined],
    ['a name with NUL', 'a\0b', undefined],
    ['a name of punctuation', '.,;', undefined],
    ['a very long name', 'x'.repeat(101), undefined],
    ['an email with >', 'ok', 'a@b>'],
    ['an email with a space', 'ok', 'a b@c'],
    ['an email without @', 'ok', 'nobody'],
    ['an empty email', 'ok', ''],
  ] as const) {
    it(`refuses ${what}, which a git author cannot hold`, async () => {
      await refusalOf(create(name, ['read'], 'default', email))
      expect(listApiKeys(nodeFs, store, 'default')).to.have.length(0)
    })
  }

  it('makes an email of any name', async () => {
    expect((await create('Zoë Müller (QA)')).key.email).to.equal('zoe-muller-qa@branchpoint.local')
    expect((await create('山田')).key.email).to.equal('key@branchpoint.local')
  })

  it('refuses unknown and missing scopes and bad project names', async () => {
    expect(await refusalOf(create('a', ['read', 'root']))).to.contain('"root" is not a scope')
    expect(await refusalOf(create('a', []))).to.contain('at least one scope')
    for (const project of ['', '../up', '-x', 'x'.repeat(65), '.git']) {
      expect(await refusalOf(create('a', ['read'], project))).to.contain('is not a project name')
    }
    expect(readdirSync(store)).to.have.length(0)
  })

  it('keeps serving other projects when one key file is damaged, and says so', async () => {
    const { token } = await create('ok', ['read'], 'good')
    await create('lost', ['read'], 'bad')
    writeFileSync(join(store, 'bad/keys.json'), '{"format":1,"keys":[{')
    const callerOf = authenticator()
    expect(callerOf('svc_nobody')).to.equal(undefined)
    expect(callerOf(token)?.project).to.equal('good')
    expect(callerOf('svc_nobody')).to.equal(undefined)
    expect(damage.map(String)).to.have.length(1)
    expect(String(damage[0])).to.contain('bad/keys.json is not a list of API keys')
    expect(await refusalOf(create('more', ['read'], 'bad'))).to.contain('keys.json')
  })
})

describe('scopes', () => {
  const caller = (scopes: readonly ('read' | 'admin')[]) =>
    callerWith('default', { id: '', name: 'ci', email: '', scopes })

  it('let a key do what it has, and admin everything', () => {
    requireScope(caller(['read']), ['read'])
    requireScope(caller(['admin']), ['deploy'])
  })

  it('refuse what it has not, naming both', () => {
    expect(() => requireScope(caller(['read']), ['write'])).to.throw(
      Refusal,
      /has the scopes read; .* needs "write"/,
    )
  })
})

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => new Error('it was accepted'),
    (reason: unknown) => reason,
  )
  expect(error).to.be.instanceOf(Refusal)
  return (error as Refusal).message
}
