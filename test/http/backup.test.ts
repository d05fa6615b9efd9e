import { expect } from 'chai'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { randomBytes } from 'node:crypto'
import type { LogHandle } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { git } from '../support/git/git-program.ts'
import { ADMIN_KEY, type RunningService, startService } from '../support/servers/service.ts'

const LONG = `long-${'x'.repeat(100)}`

describe('http: the backup of a project', () => {
  let service: RunningService
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'backup-'))
    service = await startService()
    const { revision_id: id } = await create('bot', { system: 'You answer.' })
    await post('/workflows/revisions/commit', {
      workflow_revision_commit: {
        ...{ workflow_variant_ref: { slug: 'bot' }, slug: 'kinder', message: 'Kinder' },
        data: { parameters: { system: 'You answer kindly.' } },
      },
    })
    await post('/workflows/revisions/deploy', {
      ...{ workflow_revision_ref: { id }, environment_ref: { slug: 'production' } },
    })
    await create(LONG, { a: 1 })
    const { id: old } = await create('old', { a: 1 })
    await post(`/simple/workflows/${old}/archive`)
    await post('/simple/testsets', {
      testset: { slug: 'rows', data: { testcases: [{ data: { city: 'Oslo' } }] } },
    })
  })
  after(async () => {
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = async (path: string, body: object = {}, at = service) => {
    const reply = await at.post(path, body)
    expect(reply.status, reply.text).to.equal(200)
    return reply.body
  }
  const create = async (slug: string, parameters: object, at = service) =>
    (await post('/simple/workflows', { workflow: { slug, data: { parameters } } }, at)).workflow

  const backup = (at = service, key = ADMIN_KEY): Promise<Response> =>
    fetch(`${at.url}/projects/current/backup`, { headers: { authorization: `ApiKey ${key}` } })
  /** Unpacks a backup with the program tar; answers its folder and the names in it. */
  const unpacked = async (response: Response): Promise<{ at: string; names: string[] }> => {
    expect(response.status).to.equal(200)
    const at = mkdtempSync(join(folder, 'tar-'))
    writeFileSync(join(at, 'all.tar'), Buffer.from(await response.arrayBuffer()))
    const listed = execFileSync('tar', ['-tf', join(at, 'all.tar')], { encoding: 'utf8' })
    execFileSync('tar', ['-xf', join(at, 'all.tar'), '-C', at])
    return { at, names: listed.trim().split('\n').sort() }
  }
  const refsOf = (path: string): string => git(path, ['for-each-ref', '--format=%(refname) %(objectname)'])
  const uploadsOf = (at: RunningService): string[] => {
    try {
      return readdirSync(join(at.storeDir, '.uploads'))
    } catch {
      return []
    }
  }

  // interface 14.7
  it('is a tar with a bundle of each repository, archived ones too, with all refs of each', async () => {
    const response = await backup()
    expect(response.headers.get('content-type')).to.equal('application/x-tar')
    expect(response.headers.get('content-disposition')).to.equal('attachment; filename="default.tar"')
    const { at, names } = await unpacked(response)
    const workflows = ['bot', LONG, 'old'].map((slug) => `workflows/${slug}.bundle`)
    const others = ['environments/production.bundle', 'testsets/rows.bundle']
    expect(names).to.include.members([...workflows, ...others])
    for (const name of names) {
      const [family = '', slug = ''] = name.replace(/\.bundle$/, '').split('/')
      const mirror = join(at, `${slug}.git`)
      execFileSync('git', ['clone', '-q', '--mirror', join(at, name), mirror], { stdio: 'pipe' })
      expect(refsOf(mirror), name).to.equal(refsOf(service.repository(slug, family)))
    }
    expect(git(join(at, 'bot.git'), ['symbolic-ref', 'HEAD'])).to.equal('refs/heads/bot')
    expect(refsOf(join(at, 'bot.git'))).to.match(
      /refs\/environments\/production [^]*refs\/meta\/artifact [^]*refs\/tags\/kinder/,
    )
    expect(uploadsOf(service)).to.deep.equal([])
  })

  // interface 14.7
  it('tries again where git failed once, as it does on what is removed and brought back meanwhile', async () => {
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    const failsOnce = [
      '#!/bin/sh',
      'case "$*" in *"bundle create"*)',
      '  if mkdir "$0.failed" 2>/dev/null; then echo "fatal: not a git repository" >&2; exit 128; fi',
      'esac',
      'PATH="${PATH#*:}" exec git "$@"',
    ]
    writeFileSync(join(bin, 'git'), failsOnce.join('\n'), { mode: 0o755 })
    const whole = await unpacked(await backup())
    const path = process.env['PATH']
    process.env['PATH'] = `${bin}:${path}`
    try {
      const { names } = await unpacked(await backup())
      expect(names).to.deep.equal(whole.names)
      expect(readdirSync(bin)).to.include('git.failed')
    } finally {
      process.env['PATH'] = path
    }
  })

  it('brings a repository back with the git program, as it was', async () => {
    const { at } = await unpacked(await backup())
    const other = await startService()
    try {
      mkdirSync(join(other.storeDir, 'default/workflows'), { recursive: true })
      const place = other.repository('bot')
      execFileSync('git', ['clone', '-q', '--mirror', join(at, 'workflows/bot.bundle'), place], {
        stdio: 'pipe',
      })
      const ask = async (it: RunningService) =>
        (await it.post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })).body
          .workflow_revision
      const [restored, original] = [await ask(other), await ask(service)]
      expect(restored.data).to.deep.equal({ parameters: { system: 'You answer kindly.' } })
      for (const field of ['id', 'slug', 'version', 'author', 'date', 'message', 'artifact_id'])
        expect(restored[field], field).to.deep.equal(original[field])
    } finally {
      await other.stop()
    }
  })

  it('is of the project of the key alone, also of one that holds no more than its environments', async () => {
    const { key } = await post('/projects', { project: { name: 'Bare' } })
    const response = await backup(service, key.secret)
    expect(response.headers.get('content-disposition')).to.contain('"Bare.tar"')
    const { names } = await unpacked(response)
    expect(names.every((name) => name.startsWith('environments/'))).to.equal(true)
    expect(names).to.include('environments/production.bundle')
  })

  it('wants the scope admin', async () => {
    const { key } = await post('/keys', { key: { name: 'r', scopes: ['read', 'write', 'deploy', 'invoke'] } })
    const refused = await backup(service, key.secret)
    expect([refused.status, codeIn(await refused.text())]).to.deep.equal([403, 'missing_scope'])
  })

  describe('that fails', () => {
    let own: RunningService
    let isFull = false
    before(async () => {
      const append = (path: string, bytes: Uint8Array, log: LogHandle): void => {
        if (isFull && path.includes('.uploads'))
          throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: 'write' })
        log.append(bytes)
      }
      const createLog = (path: string): LogHandle => {
        const log = nodeFs.createLog(path)
        return { ...log, append: (bytes) => append(path, bytes, log), close: () => log.close() }
      }
      own = await startService({ fs: { ...nodeFs, createLog }, env: { GIT_MAX_REQUESTS: '1' } })
      await create('small', { a: 1 }, own)
      for (const slug of ['one', 'two'])
        await create(slug, { text: randomBytes(450_000).toString('base64') }, own)
    })
    after(() => own.stop())

    /** Begins a backup; answers once its headers are here. */
    const begun = async (): Promise<IncomingMessage> => {
      const headers = { authorization: `ApiKey ${ADMIN_KEY}` }
      const sent = request(`${own.url}/projects/current/backup`, { headers })
      sent.end()
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return response
    }
    /** What came until the connection broke. */
    const brokenOff = async (): Promise<string> => {
      const response = await begun()
      expect(response.statusCode).to.equal(200)
      const pieces: Buffer[] = []
      const reading = (async () => {
        for await (const piece of response) pieces.push(piece as Buffer)
      })()
      const failure = await reading.catch((error: NodeJS.ErrnoException) => error.code)
      expect(failure).to.equal('ECONNRESET')
      expect(uploadsOf(own)).to.deep.equal([])
      return Buffer.concat(pieces).toString('latin1')
    }

    it('is given up when its client goes away, and frees its permit and its room', async () => {
      const response = await begun()
      await once(response, 'data')
      response.destroy()
      for (let left = 2000; uploadsOf(own).length > 0; left--) {
        if (left === 0) throw new Error(`left: ${uploadsOf(own).join()}`)
        await pause(5)
      }
      expect((await unpacked(await backup(own))).names).to.include('workflows/two.bundle')
    })

    it('breaks the connection where the disk is full, and leaves nothing on it', async () => {
      isFull = true
      const text = await brokenOff()
      isFull = false
      expect(text).to.contain('workflows/small.bundle').and.not.contain('workflows/one.bundle')
    })

    it('breaks the connection where git fails amid the stream, and never ends like a whole one', async () => {
      const packs = join(own.repository('two'), 'objects/pack')
      const names = readdirSync(packs).filter((name) => name.endsWith('.pack'))
      for (const name of names) writeFileSync(join(packs, name), 'gone')
      const text = await brokenOff()
      expect(text).to.contain('workflows/one.bundle').and.not.contain('workflows/two.bundle')
      expect(text.endsWith('\0'.repeat(1024))).to.equal(false)
    })

    it('is refused before its first byte where a repository is not served', async () => {
      const lost = own.repository('small')
      rmSync(join(lost, 'refs/meta'), { recursive: true, force: true })
      writeFileSync(join(lost, 'packed-refs'), `${'1'.repeat(40)} refs/meta/artifact\n`)
      let refused = await backup(own)
      // It is seen with one of the next looks at the folder.
      for (; refused.status === 200; refused = await backup(own))
        await refused.arrayBuffer().catch(() => undefined)
      const text = await refused.text()
      expect([refused.status, codeIn(text)]).to.deep.equal([503, 'damaged_repository'])
      expect(text).to.contain('workflows/small')
    })
  })

  it('is refused where the store is in memory', async () => {
    const inMemory = await startService({ storeDir: ':memory:' })
    try {
      const none = await backup(inMemory)
      expect([none.status, codeIn(await none.text())]).to.deep.equal([503, 'storage_unavailable'])
    } finally {
      await inMemory.stop()
    }
  })
})

function codeIn(text: string): string {
  return (JSON.parse(text) as { readonly code: string }).code
}
