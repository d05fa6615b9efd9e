import { expect } from 'chai'
import { type IntentAttempt, type KeyedRequest, Intents } from '../../src/access/keys/intents.ts'
import { Refusal } from '../../src/errors.ts'
import { checkIdempotencyKey } from '../../src/http/routing/router.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { memoryFs } from '../../src/storage/memory-fs.ts'
import { thisProcess } from '../../src/storage/files/process-identity.ts'

const HOUR = 60 * 60 * 1000
const FOLDER = '/store/default/idempotency'

describe('intents', () => {
  let fs: Fs
  let now: Date
  let attempts: IntentAttempt[]
  let intents: Intents

  beforeEach(() => {
    fs = memoryFs()
    fs.makeDir('/store/default')
    now = new Date()
    attempts = []
    intents = new Intents(fs, '/store', () => now)
  })

  const request = (changes: Partial<KeyedRequest> = {}): KeyedRequest => ({
    project: 'default',
    credential: 'key-1',
    key: 'once-1',
    asks: ['POST', '/workflows', '', '{"workflow":{"name":"secret prompt"}}'],
    ...changes,
  })

  /** Each attempt answers its own number, each recall the number at the address. */
  const send = (
    changes: Partial<KeyedRequest> = {},
    work: () => unknown = () => undefined,
  ): Promise<string> =>
    intents.once(request(changes), {
      run: async (attempt) => {
        attempts.push(attempt)
        const number = String(attempts.length)
        await work()
        return { answer: number, address: { id: number } }
      },
      recall: async ({ id }) => `${id} again`,
      isRefusal: (error) => error instanceof Refusal,
    })

  const fail = (error: Error) => () => Promise.reject(error)
  const refusalOf = async (sent: Promise<string>): Promise<Refusal> => {
    const error: unknown = await sent.catch((it: unknown) => it)
    if (error instanceof Refusal) return error
    throw new Error(`expected a refusal, not ${String(error)}`)
  }
  const files = (): string[] => (fs.readDir(FOLDER) ?? []).filter((name) => name !== 'locks')

  it('do the work once, also for a process that starts later', async () => {
    expect(await send()).to.equal('1')
    expect(await send()).to.equal('1 again')
    intents = new Intents(fs, '/store', () => now)
    expect(await send()).to.equal('1 again')
  })

  it('leave what was decided beside a result that a power cut may take', async () => {
    await send({}, fail(new Error('the process is cut off'))).catch(() => undefined)
    const intent = files()[0]?.replace('.json', '') ?? ''
    const decided = `${intent}.${'a'.repeat(12)}.refs%2Fheads%2Fmain.${'b'.repeat(40)}.decided`
    fs.create(`${FOLDER}/${decided}`, Buffer.alloc(0))
    expect(await send()).to.equal('2')
    expect(files().sort()).to.deep.equal([`${intent}.json`, decided].sort())
  })

  // interface 2.25
  it('keep ids and hashes, never the body or the key', async () => {
    await send()
    const [file = ''] = files()
    expect(file).to.match(/^[0-9a-f]{64}\.json$/)
    const text = fs.readFile(`${FOLDER}/${file}`)?.toString() ?? ''
    expect(JSON.parse(text)).to.have.all.keys('fingerprint', 'created_at', 'artifact_id', 'result')
    expect(text).to.not.contain('secret').and.not.contain('once-1')
  })

  it('go to the disk before the work begins', async () => {
    await send({}, () => expect(files().filter((name) => name.endsWith('.json'))).to.have.length(1))
  })

  it('belong to one API key and to one project', async () => {
    expect(await send()).to.equal('1')
    expect(await send({ credential: 'key-2' })).to.equal('2')
    fs.makeDir('/store/other')
    expect(await send({ project: 'other' })).to.equal('3')
  })

  it('refuse the key of another request, whichever part of it differs', async () => {
    await send()
    for (const [part] of request().asks.entries()) {
      const asks = request().asks.map((text, at) => (at === part ? `${text}x` : text))
      const refusal = await refusalOf(send({ asks }))
      expect(refusal.code).to.equal('idempotency_key_reused')
      expect(refusal.message).to.contain(now.toISOString())
    }
    expect(await send()).to.equal('1 again')
  })

  it('let requests of one key take turns, and others pass', async () => {
    let finish = (): void => undefined
    let first = Promise.resolve('')
    await new Promise<void>((begun) => {
      const untilFinished = () => {
        begun()
        return new Promise<void>((resolve) => (finish = resolve))
      }
      first = send({}, untilFinished)
    })
    const duplicates = [send(), send(), send()]
    expect(await send({ key: 'other' })).to.equal('2')
    finish()
    expect(await first).to.equal('1')
    expect(await Promise.all(duplicates)).to.deep.equal(['1 again', '1 again', '1 again'])
  })

  it('let two servers of one store take turns as well', async () => {
    const here = intents
    const sent = Array.from({ length: 10 }, (_, number) => {
      intents = number % 2 ? new Intents(fs, '/store', () => now) : here
      return send()
    })
    expect((await Promise.all(sent)).sort()).to.deep.equal(['1', ...Array<string>(9).fill('1 again')])
  })

  it('forget a request that was refused, so that its key can be used again', async () => {
    const refusal = new Refusal('slug_taken', 'Taken.')
    expect(await refusalOf(send({}, fail(refusal)))).to.equal(refusal)
    expect(files()).to.deep.equal([])
    expect(await send({ asks: ['another'] })).to.equal('2')
  })

  it('tell the next attempt when the one that failed began, and give it the same artifact id', async () => {
    const began = now
    expect(await send({}, fail(new Error('broken'))).catch(String)).to.contain('broken')
    now = new Date(now.getTime() + HOUR)
    expect((await refusalOf(send({ asks: ['another'] }))).code).to.equal('idempotency_key_reused')
    expect(await send()).to.equal('2')
    expect(attempts.map((it) => it.earlier)).to.deep.equal([undefined, began])
    expect(attempts[0]?.artifactId).to.equal(attempts[1]?.artifactId)
    expect(await send()).to.equal('2 again')
  })

  it('answer although the result cannot be noted', async () => {
    const broken = (): void => {
      fs.createSynced = () => Promise.reject(new Error('the disk is full'))
    }
    const { createSynced } = fs
    expect(await send({}, broken)).to.equal('1')
    fs.createSynced = createSynced
    expect(await send()).to.equal('2')
    expect(attempts[1]?.earlier).to.deep.equal(now)
  })

  it('take over from a process that died at work', async () => {
    await send()
    const [file = ''] = files()
    const dead = `${thisProcess().host}.0000dead.1.1.1`
    fs.create(`${FOLDER}/locks/${dead}`, Buffer.alloc(0))
    fs.link(`${FOLDER}/locks/${dead}`, `${FOLDER}/${file.replace('.json', '.lock')}`)
    expect(await send()).to.equal('1 again')
    expect(files()).to.deep.equal([file])
  })

  it('refuse a file that holds something else, by its path', async () => {
    await send()
    const path = `${FOLDER}/${files()[0] ?? ''}`
    fs.remove(path)
    fs.create(path, Buffer.from('{"fingerprint": "'))
    const refusal = await refusalOf(send())
    expect(refusal.code).to.equal('storage_unavailable')
    expect(refusal.message).to.contain(path)
  })

  it('are remembered for 24 hours', async () => {
    await send()
    now = new Date(now.getTime() + 24 * HOUR - 1)
    expect(await send()).to.equal('1 again')
    now = new Date(now.getTime() + 1)
    expect(await send({ asks: ['another'] })).to.equal('2')
    expect(attempts[1]?.earlier).to.equal(undefined)
  })

  it('are purged after 24 hours, with what dead processes left', async () => {
    await send()
    const dead = `${thisProcess().host}.0000dead.1.1.1`
    fs.create(`${FOLDER}/locks/${dead}`, Buffer.alloc(0))
    fs.link(`${FOLDER}/locks/${dead}`, `${FOLDER}/${'a'.repeat(64)}.lock`)
    fs.create(`${FOLDER}/${'b'.repeat(64)}.json.new`, Buffer.from('{'))
    fs.create(`${FOLDER}/note.txt`, Buffer.from('not ours'))
    await intents.purge()
    expect(files()).to.have.length(3)
    now = new Date(Date.now() + 24 * HOUR + 1000)
    await intents.purge()
    expect(files()).to.deep.equal(['note.txt'])
    expect(fs.readDir(`${FOLDER}/locks`)).to.deep.equal([])
  })

  it('take keys of 1 to 255 printable ASCII characters', () => {
    for (const key of ['a', '"8e03978e-40d5-43dd-bc93-6894a57f9324"', 'a b: c~', 'x'.repeat(255)])
      expect(checkIdempotencyKey(key)).to.equal(key)
    for (const key of ['', 'x'.repeat(256), 'é', 'a\nb', 'tab\t', '\x7f'])
      expect(() => checkIdempotencyKey(key), JSON.stringify(key))
        .to.throw(Refusal)
        .with.nested.property('data.errors[0].type', 'invalid_idempotency_key')
  })
})
