import { expect } from 'chai'
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/git/git-program.ts'
import { type Container, needsNamespaces, skipLoudly, startContainer } from '../support/servers/containers.ts'
import { ADMIN_KEY, startService } from '../support/servers/service.ts'
import { made } from '../http/keyed-operations.ts'

const SERVER = fileURLToPath(new URL('../../src/main.js', import.meta.url))

/** A library that has every process get every lock, as a file system does that keeps none. */
const WITHOUT_LOCKS = `
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
static int call(const char *name, int fd, int cmd, void *arg) {
  if (cmd == F_SETLK || cmd == F_SETLKW) return 0;
  int (*real)(int, int, ...) = dlsym(RTLD_NEXT, name);
  return real(fd, cmd, arg);
}
int fcntl(int fd, int cmd, ...) { va_list a; va_start(a, cmd); void *arg = va_arg(a, void *); va_end(a); return call("fcntl", fd, cmd, arg); }
int fcntl64(int fd, int cmd, ...) { va_list a; va_start(a, cmd); void *arg = va_arg(a, void *); va_end(a); return call("fcntl64", fd, cmd, arg); }
`

describe('a server that starts over a volume', () => {
  let volume: string
  let running: Container[]
  before(function () {
    needsNamespaces(this)
  })
  beforeEach(() => {
    volume = temporaryFolder()
    running = []
  })
  afterEach(() => Promise.all(running.map((container) => container.kill())))

  interface Started {
    /** What it said, until it listened or ended. */
    readonly said: readonly string[]
    /** Absent if it has ended. */
    readonly url?: string
    /** What it says next. */
    readonly next?: () => Promise<string | undefined>
  }

  /** Starts a server over `store` in the volume, which `mounts` prepares as the shell does. */
  async function start(
    mounts: string,
    env: NodeJS.ProcessEnv = {},
    command: readonly string[] = [],
  ): Promise<Started> {
    const container = startContainer(
      ['sh', '-c', 'exec "$0" "$@" 2>&1', ...command, process.execPath, SERVER],
      {
        hostname: 'one',
        mounts,
        env: {
          PATH: process.env['PATH'],
          VOLUME: volume,
          STORE_DIR: `${volume}/store`,
          PORT: '0',
          HOST: '127.0.0.1',
          SVC_API_KEY: ADMIN_KEY,
          ...env,
        },
      },
    )
    running.push(container)
    const said: string[] = []
    for (let line = await container.line(); line !== undefined; line = await container.line()) {
      const record = line.startsWith('{') ? JSON.parse(line) : { msg: line }
      if (record.url !== undefined) return { said, url: record.url, next: container.line }
      said.push(record.msg)
    }
    return { said }
  }

  /** The status of a request for the stored prompt, and of a commit to it. */
  async function ask(url: string): Promise<{ readonly read: number; readonly write: number }> {
    const post = async (path: string, body: object): Promise<number> => {
      const headers = { authorization: `ApiKey ${ADMIN_KEY}`, 'content-type': 'application/json' }
      return (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status
    }
    const read = await post('/workflows/revisions/retrieve', { workflow_ref: { slug: 'bot' } })
    const commit = { workflow_ref: { slug: 'bot' }, data: { parameters: { n: 2 } } }
    return { read, write: await post('/workflows/revisions/commit', { workflow_revision_commit: commit }) }
  }

  async function makeStore(): Promise<void> {
    const service = await startService({ storeDir: `${volume}/store` })
    await made(service, 'bot')
    await service.stop({ keepStore: true })
  }

  const READ_ONLY = 'mount --bind "$VOLUME" "$VOLUME" && mount -o remount,ro,bind "$VOLUME"'
  // The index's thread may still be closing its file while the store is copied.
  const FULL =
    'mkdir "$VOLUME/full" && mount -t tmpfs -o size=4m tmpfs "$VOLUME/full" && (test ! -d "$VOLUME/store" || cp -r "$VOLUME/store" "$VOLUME/full" || test -d "$VOLUME/full/store/default") && ' +
    '(dd if=/dev/zero of="$VOLUME/full/rest" bs=4k 2> /dev/null || true)'

  it('that is read-only says so, and serves what is there', async () => {
    await makeStore()
    const { said, url } = await start(READ_ONLY)
    // The index says later, or before it listens, that it is in memory.
    expect(said[0]).to.equal(
      `The store ${volume}/store is mounted read-only: it is served, and nothing can be written to it.`,
    )
    expect(await ask(url ?? '')).to.deep.equal({ read: 200, write: 503 })
  })

  it('that is read-only and empty ends with what to do', async () => {
    expect((await start(READ_ONLY)).said.join()).to.match(
      /^Cannot open the store .*: EROFS: .* The disk is mounted read-only: mount it for writing, or set STORE_DIR to a folder on another one\.$/,
    )
  })

  it('that is full says so, and serves what is there', async () => {
    await makeStore()
    const { said, url } = await start(FULL, { STORE_DIR: `${volume}/full/store` })
    expect(said[0]).to.equal(
      `The disk of the store ${volume}/full/store is full: nothing can be written until there is room on it.`,
    )
    expect(await ask(url ?? '')).to.deep.equal({ read: 200, write: 503 })
  })

  it('that is full and empty ends with what to do', async () => {
    expect((await start(FULL, { STORE_DIR: `${volume}/full/store` })).said.join()).to.match(
      /^Cannot open the store .*: ENOSPC: .* The disk is full: make room on it, or set STORE_DIR to a folder on another one\.$/,
    )
  })

  it('that is of another user ends with what to do', async function () {
    if (process.getuid?.() !== 0 || spawnSync('setpriv', ['--version']).error)
      skipLoudly(this, 'Only root can start a server as another user, with setpriv.')
    mkdirSync(`${volume}/store`)
    chmodSync(volume, 0o755)
    const { said } = await start('true', {}, [
      'setpriv',
      '--reuid',
      '65534',
      '--regid',
      '65534',
      '--clear-groups',
    ])
    expect(said.join()).to.match(
      /^Cannot open the store (\S+): EACCES: .* This server runs as the user 65534: give that user the folder and all that is in it \(chown -R 65534 \1\), or set /,
    )
  })

  it('on a file system that is not known starts where that keeps locks, and else is refused by its name', async function () {
    const mounts = 'mount -t ramfs ramfs "$VOLUME"'
    expect((await start(mounts)).url).to.match(/^http/)
    const library = `${temporaryFolder()}/without-locks.so`
    const { error } = spawnSync('cc', ['-shared', '-fPIC', '-x', 'c', '-', '-o', library, '-ldl'], {
      input: WITHOUT_LOCKS,
    })
    if (error) skipLoudly(this, 'There is no C compiler here: apt-get install gcc.')
    expect(await start(mounts, { LD_PRELOAD: library })).to.deep.equal({
      said: [
        `The store ${volume}/store cannot be used on the file system ramfs at ${volume}: it does not keep locks (two processes can lock the same file), ` +
          'by which servers tell whether another one lives. Set STORE_DIR to a folder on a local disk (ext4, xfs).',
      ],
    })
  })

  it('without git on its PATH says what it cannot do, and with a git that is too old what may fail', async () => {
    const programs = temporaryFolder()
    const warning = (): string => {
      const program = `
        const { gitProblem } = await import(${JSON.stringify(new URL('../../src/git/program.js', import.meta.url))})
        console.log(await gitProblem())`
      return execFileSync(process.execPath, ['--input-type=module', '-e', program], {
        env: { PATH: programs },
        encoding: 'utf8',
      })
    }
    const NO_GIT = 'There is no git program on the PATH that runs: clone, fetch, push, bundles and the upkeep'
    const { said, next } = await start('true', {}, ['env', `PATH=${programs}`])
    expect(said[0] ?? (await next?.())).to.contain(NO_GIT)
    expect(warning()).to.contain(NO_GIT)
    writeFileSync(join(programs, 'git'), '#!/bin/sh\necho git version 2.30.2\n', { mode: 0o755 })
    expect(warning()).to.match(/^The git program on the PATH is 2\.30\.2, and git 2\.38 or newer is needed: /)
    writeFileSync(join(programs, 'git'), '#!/bin/sh\necho "git version 2.47.1 (Apple Git-155)"\n')
    expect(warning()).to.equal('undefined\n')
  })
})
