import { expect } from 'chai'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChildServer } from '../support/servers/child-server.ts'
import { KEY, startBranchpoint } from '../support/servers/child-server.ts'
import { git } from '../support/git/git-program.ts'
import type { Clone } from '../support/git/git-client.ts'
import { cloneIn, newFolder } from '../support/git/git-client.ts'

describe('servers: kill -9 between the write of a push and its answer', () => {
  let storeDir: string
  let server: ChildServer
  let clone: Clone
  before(async () => {
    storeDir = mkdtempSync(join(tmpdir(), 'branchpoint-killed-'))
    server = await startBranchpoint(storeDir)
    await post(server, '/simple/workflows/', { workflow: { slug: 'bot', data: { parameters: {} } } })
    clone = cloneIn(newFolder())
    await clone.git('clone', '-q', addressOf(server.url), '.')
    await clone.git('config', 'http.postBuffer', '16m')
  })
  after(async () => {
    await server.stop()
    rmSync(storeDir, { recursive: true })
  })

  for (const [what, files] of [
    ['a push that is written with others', 1],
    ['a push that is a pack of its own', 300],
  ] as const) {
    it(`${what}: the revision is there after the next start`, async () => {
      const repository = join(storeDir, 'default/workflows/bot.git')
      let wasAnswered = true
      // An answer that was faster than the kill proves less.
      for (let round = 1; wasAnswered && round <= 10; round++) {
        const message = `${what}, round ${round}`
        mkdirSync(join(clone.folder, 'notes'), { recursive: true })
        for (let file = 0; file < files; file++)
          clone.write(`notes/${files}-${file}.md`, `${message}: ${file}\n`)
        clone.write('data.json', JSON.stringify({ parameters: { message } }))
        const commit = await clone.commit(message)
        const mute = await muteProxy(server.url)
        const push = clone.try('push', '-q', addressOf(mute.url), 'bot')
        let isOver = false
        void push.then(() => (isOver = true))
        while (!isOver && !isWritten(repository, commit)) await nextTurn()
        await server.kill()
        wasAnswered = mute.hasAnswered()
        expect((await push).code).to.not.equal(0)
        mute.close()
        server = await startBranchpoint(storeDir)
        const { workflow_revision: found } = await post(server, '/workflows/revisions/retrieve', {
          workflow_variant_ref: { slug: 'bot' },
        })
        expect(found).to.include({ message })
        expect(found.data).to.deep.equal({ parameters: { message } })
        expect(git(repository, ['rev-parse', 'bot'])).to.equal(commit)
      }
      expect(wasAnswered).to.equal(false)
      expect(git(repository, ['fsck', '--strict', '--no-dangling'])).to.equal('')
      // Who was not answered asks again, and nothing is left to be done.
      expect((await clone.try('push', addressOf(server.url), 'bot')).terminal).to.include('up-to-date')
    })
  }
})

function addressOf(url: string): string {
  return `${url.replace('//', `//any:${KEY}@`)}/git/workflows/bot.git`
}

// Answers are looked into freely, as in test/support/servers/service.ts.
async function post({ url }: ChildServer, path: string, body: object): Promise<any> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.json()
}

/** Whether git sees that the branch has moved. */
function isWritten(repository: string, commit: string): boolean {
  const path = join(repository, 'refs/heads/bot')
  return existsSync(path) && readFileSync(path, 'utf8').startsWith(commit)
}

interface MuteProxy {
  readonly url: string
  /** Whether the server has said anything to what was posted. */
  hasAnswered(): boolean
  close(): Server
}

/** Passes everything on to the server, and its answers back, but for those to what is posted. */
async function muteProxy(to: string): Promise<MuteProxy> {
  const { hostname, port } = new URL(to)
  let hasAnswered = false
  const proxy = createServer((client) => {
    let isMute = false
    const upstream = connect(Number(port), hostname)
    client.on('data', (chunk) => {
      isMute ||= chunk.includes('POST /git/')
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (isMute) hasAnswered = true
      else client.write(chunk)
    })
    for (const [end, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      end.on('error', () => other.destroy())
      end.on('close', () => other.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` // it listens on TCP
  return { url, hasAnswered: () => hasAnswered, close: () => proxy.close() }
}
