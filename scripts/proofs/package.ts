import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { progress } from '../bench/progress.ts'
import { served, tryOut } from './package/try-out.ts'

/**
 * `npm run proof -- package`: packs the package and runs it by npx in an empty folder of somebody who has nothing of npm, as its users do: with a network, then
 * without one; without git, and with another git (`--git PROGRAM`); as root and as another user. Prints how long each takes, and what is installed.
 */
const MOST_MB = 160
const MOST_SECONDS = 60

const { values } = parseArgs({ options: { git: { type: 'string' } } })
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-package-'))
const isRoot = process.getuid?.() === 0
try {
  await prove()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function prove(): Promise<void> {
  mkdirSync(join(folder, 'home'))
  const packed = spawnSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], {
    encoding: 'utf8',
  })
  const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '')
  say(`${basename(tarball)}: ${(lstatSync(tarball).size / 1e6).toFixed(1)} MB`)

  const seconds = await tryByNpx(tarball, { name: 'with a network' })
  if (seconds > MOST_SECONDS) throw new Error(`It took longer than ${MOST_SECONDS} s.`)
  examine(installed())
  await tryByNpx(tarball, { name: 'a second time, without a network', prefix: withoutNetwork() })
  await tryByNpx(tarball, { name: 'without git', path: pathOf() })
  if (values.git !== undefined) {
    const version = spawnSync(values.git, ['--version'], { encoding: 'utf8' }).stdout.trim()
    await tryByNpx(tarball, { name: `with ${version}`, path: pathOf(resolve(values.git)) })
  }
  if (isRoot) {
    spawnSync('chown', ['-R', '65534:65534', folder])
    const prefix = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']
    await tryByNpx(tarball, { name: 'as nobody, where it ran as root before', prefix })
  }
}

interface Circumstances {
  readonly name: string
  /** A program that runs the command line that follows. */
  readonly prefix?: readonly string[]
  readonly path?: string
}

/** Runs the tarball in an empty folder, with a folder of npm of its own, until a prompt is answered. Answers how many seconds that took. */
async function tryByNpx(
  tarball: string,
  { name, prefix = [], path = process.env['PATH'] ?? '' }: Circumstances,
): Promise<number> {
  progress(name)
  const place = mkdtempSync(join(folder, 'empty-'))
  if (prefix[0] === 'setpriv') chownSync(place, 65534, 65534)
  const began = performance.now()
  // npx would run a file with an absolute path as it is.
  const line = [...prefix, 'npx', '--yes', `../${basename(tarball)}`, 'serve']
  const child = spawn(line[0] ?? 'npx', line.slice(1), {
    cwd: place,
    env: {
      PATH: path,
      HOME: join(folder, 'home'),
      PORT: '0',
      npm_config_cache: cacheFolder(),
      ...certificates(),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  try {
    const seen = await served(child)
    if (prefix[0] === 'unshare') await tryInside(child, seen)
    else await tryOut(seen, 'create')
    const seconds = (performance.now() - began) / 1000
    say(`npx, ${name}: a prompt and scripts in three languages after ${seconds.toFixed(1)} s`)
    return seconds
  } finally {
    // npx and what it started are one group.
    if (child.exitCode === null) {
      const ended = once(child, 'exit')
      process.kill(-(child.pid as number), 'SIGTERM')
      await ended
    }
  }
}

function cacheFolder(): string {
  return join(folder, 'npm')
}

/** Of a machine behind a proxy with certificates of its own. */
function certificates(): Readonly<Record<string, string>> {
  const file = process.env['NODE_EXTRA_CA_CERTS']
  return file === undefined ? {} : { NODE_EXTRA_CA_CERTS: file }
}

/** A server in a network of its own is asked from there. */
async function tryInside(
  child: ChildProcess,
  { url, key }: { readonly url: string; readonly key: string },
): Promise<void> {
  const script = `import('${new URL('./package/try-out.js', import.meta.url).href}').then((it) => it.tryOut({ url: '${url}', key: '${key}' }, 'create'))`
  const inside = spawn('nsenter', ['--net', '--target', String(child.pid), process.execPath, '-e', script], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const [code] = (await once(inside, 'exit')) as [number | null]
  if (code !== 0) throw new Error('The server without a network did not answer.')
}

/** A network with nothing in it, where this process may make one; else a registry at which nobody listens. */
function withoutNetwork(): readonly string[] {
  const isolated = ['unshare', '--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
  const works = isRoot && spawnSync(isolated[0] ?? '', [...isolated.slice(1), 'true']).status === 0
  return works ? isolated : ['env', 'npm_config_registry=http://127.0.0.1:9/', 'npm_config_fetch_retries=0']
}

/** A search path with node, npm, a shell, and this git program, if any. */
function pathOf(git?: string): string {
  const bin = mkdtempSync(join(folder, 'bin-'))
  for (const name of ['node', 'npm', 'npx', 'sh', 'env']) {
    const found = (process.env['PATH'] ?? '').split(':').find((it) => existsSync(join(it, name)))
    if (found) symlinkSync(join(found, name), join(bin, name))
  }
  if (git !== undefined) symlinkSync(git, join(bin, 'git'))
  return bin
}

/** Where npx has installed it. */
function installed(): string {
  const [name = ''] = readdirSync(join(cacheFolder(), '_npx'))
  return join(cacheFolder(), '_npx', name, 'node_modules')
}

interface Manifest {
  readonly name?: string
  readonly scripts?: Readonly<Record<string, string>>
}

/** Checks the size of an installation, and that no package in it runs anything when it is installed. */
function examine(modules: string): void {
  const megabytes = Number(spawnSync('du', ['-sm', modules], { encoding: 'utf8' }).stdout.split('\t')[0])
  const manifests = readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^/]+\/package\.json$/.test(path))
    .map((path): [string, Manifest] => [dirname(path), JSON.parse(readFileSync(join(modules, path), 'utf8'))])
    .filter(([, { name }]) => name !== undefined)
  const scripted = manifests.filter(
    ([path, { scripts = {} }]) =>
      ['preinstall', 'install', 'postinstall'].some((it) => it in scripts) ||
      existsSync(join(modules, path, 'binding.gyp')),
  )
  say(`installed: ${megabytes} MB in ${manifests.length} packages, ${scripted.length} with an install script`)
  if (megabytes > MOST_MB) throw new Error(`An installation takes more than ${MOST_MB} MB.`)
  if (scripted.length > 0)
    throw new Error(`There are install scripts in ${scripted.map(([path]) => path).join(', ')}.`)
}

function say(line: string): void {
  progress('')
  process.stdout.write(`${line}\n`)
}
