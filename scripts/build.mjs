// Builds dist/ where something has changed since the last build: `npm ci` calls it (prepare), and so does every npm script before it
// starts. The server, the scripts and the tests by tsc; by vite the page of src/web, which lands in dist/web, and the program in few files
// (server.vite.config.ts).
// Without a compiler (`npm ci --omit=dev`) it leaves a build that is there as it is.
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
/** Written by tsc when a build has ended well. */
const stamp = join(dist, '.build-info')
/** Written when vite has ended well. */
const webStamp = join(dist, 'web', '.build-info')
/** Written when the program has been put into few files. */
const serverStamp = join(dist, 'server', '.build-info')
/** What starts the program: tsc makes them, and then the bundler in their place. */
const programs = ['main.js', 'cli/main.js'].map((name) => join(dist, 'src', name))
/** Written when the pages of the guide have been made. */
const guideStamp = join(dist, 'docs', '.build-info')
const guideProgram = join(root, 'scripts', 'guide-pages.mjs')
const serverConfig = join(root, 'scripts', 'server.vite.config.ts')
const webConfig = join(root, 'scripts', 'web.vite.config.ts')
/** The modules of packages in each bundle. */
const lists = ['server', 'web', 'swagger-ui'].map((name) => join(dist, 'modules', `${name}.json`))
const noticesProgram = join(dist, 'scripts', 'notices.js')
const notices = ['THIRD_PARTY_NOTICES', 'sbom.cdx.json'].map((name) => join(root, name))
/** Holds the process id of the build that is under way. */
const lock = join(root, 'node_modules', '.build-lock')

const web = join(root, 'src', 'web')
/** What the page takes from the server's source. */
const shared = [join(root, 'src', 'http', 'workbench'), join(root, 'src', 'run', 'templates')]

const compiler = find('typescript/package.json', 'bin', 'tsc')
const bundler = find('vite/package.json', 'bin', 'vite.js')
if (compiler === undefined) {
  if (existsSync(join(dist, 'src'))) process.exit(0)
  console.error('There is no build in dist/, and no compiler to make one. Run npm ci without --omit=dev.')
  process.exit(1)
}
if (isCurrent() && isServerCurrent() && isWebCurrent() && areNoticesCurrent() && isGuideCurrent())
  process.exit(0)
await takeLock()
try {
  if (!isCurrent()) process.exitCode = build()
  if (!process.exitCode && !isServerCurrent()) process.exitCode = buildServer()
  if (!process.exitCode && !isWebCurrent()) process.exitCode = buildWeb()
  if (!process.exitCode && !areNoticesCurrent()) process.exitCode = writeNotices()
  if (!process.exitCode && !isGuideCurrent()) await buildGuide()
} finally {
  rmSync(lock, { force: true })
}

function find(name, ...path) {
  try {
    return join(createRequire(import.meta.url).resolve(name), '..', ...path)
  } catch {
    return undefined
  }
}

/** Whether no source, and nothing that says how to build, was changed, added or removed since the last build. */
function isCurrent() {
  const built = modified(stamp)
  if (built === undefined) return false
  const roots = ['src', 'scripts', 'test'].map((name) => join(root, name)).filter((path) => existsSync(path))
  const named = ['tsconfig.json', 'package-lock.json'].map((name) => join(root, name))
  return (
    named.every((path) => (modified(path) ?? 0) <= built) && roots.every((path) => isOlder(path, built, web))
  )
}

/** Whether no source of the program was changed since, nor tsc has written what starts it anew. */
function isServerCurrent() {
  if (bundler === undefined || !existsSync(serverConfig)) return true
  const built = modified(serverStamp)
  if (built === undefined) return false
  // package.json says which packages stay outside of the bundle.
  const named = [serverConfig, join(root, 'package.json'), join(root, 'package-lock.json'), ...programs]
  return named.every((path) => (modified(path) ?? 0) <= built) && isOlder(join(root, 'src'), built, web)
}

function isWebCurrent() {
  if (bundler === undefined || !existsSync(web)) return true
  const built = modified(webStamp)
  if (built === undefined) return false
  return (
    [webConfig, join(root, 'package-lock.json')].every((path) => (modified(path) ?? 0) <= built) &&
    isOlder(web, built) &&
    shared.every((folder) => isOlder(folder, built))
  )
}

/** Whether both were written after the bundles that they list. */
function areNoticesCurrent() {
  if (!existsSync(noticesProgram)) return true
  const written = Math.min(...notices.map((path) => modified(path) ?? 0))
  return (
    [noticesProgram, ...lists].every((path) => (modified(path) ?? 0) <= written) &&
    isOlder(join(dist, 'scripts', 'notices'), written)
  )
}

function isGuideCurrent() {
  const docs = join(root, 'docs')
  if (bundler === undefined || !existsSync(guideProgram) || !existsSync(docs)) return true
  const built = modified(guideStamp)
  return built !== undefined && (modified(guideProgram) ?? 0) <= built && isOlder(docs, built)
}

/** A folder's own time moves when a name in it comes or goes. `skipped` is not looked into. */
function isOlder(folder, built, skipped) {
  if ((modified(folder) ?? 0) > built) return false
  return readdirSync(folder, { withFileTypes: true }).every((entry) => {
    const path = join(folder, entry.name)
    if (path === skipped) return true
    return entry.isDirectory() ? isOlder(path, built, skipped) : (modified(path) ?? 0) <= built
  })
}

function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

async function takeLock() {
  for (let isSaid = false; ; await pause(200)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    if (!isHeld()) rmSync(lock, { force: true })
    else if (!isSaid) console.error('another build is under way; waiting for it …')
    isSaid = true
  }
}

function isHeld() {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

function build() {
  console.error('building, since the sources have changed …')
  mkdirSync(dist, { recursive: true })
  const began = new Date()
  const { status } = spawnSync(
    process.execPath,
    [compiler, '-p', root, '--incremental', '--tsBuildInfoFile', stamp],
    {
      stdio: ['ignore', 2, 2],
    },
  )
  if (status !== 0) {
    rmSync(stamp, { force: true })
    return status ?? 1
  }
  // What was changed while the compiler ran is newer than this, and built the next time.
  utimesSync(stamp, began, began)
  for (const name of ['src', 'scripts', 'test']) removeStale(join(dist, name), join(root, name))
  return 0
}

function buildServer() {
  rmSync(join(dist, 'server'), { recursive: true, force: true })
  const began = new Date()
  const status = bundle(serverConfig, 'error')
  if (status !== 0) return status
  copySwaggerUi()
  writeFileSync(serverStamp, '')
  for (const path of [serverStamp, ...programs]) utimesSync(path, began, began)
  return 0
}

/** What `/docs/api` shows: copied, since the package depends on one with an install script, which no installation of ours shall bring. */
function copySwaggerUi() {
  const to = join(dist, 'swagger-ui')
  mkdirSync(to, { recursive: true })
  const modules = ['swagger-ui.css', 'swagger-ui-bundle.js']
  for (const name of [...modules, 'package.json', 'LICENSE', 'NOTICE'])
    copyFileSync(find('swagger-ui-dist/package.json', name), join(to, name))
  mkdirSync(join(dist, 'modules'), { recursive: true })
  const listed = modules.map((name) => `node_modules/swagger-ui-dist/${name}`)
  writeFileSync(join(dist, 'modules', 'swagger-ui.json'), `${JSON.stringify(listed, null, 1)}\n`)
}

function buildWeb() {
  console.error('building the page …')
  const began = new Date()
  const status = bundle(webConfig, 'warn')
  if (status !== 0) return status
  writeFileSync(webStamp, '')
  utimesSync(webStamp, began, began)
  return 0
}

/** Answers the program's exit code. */
function writeNotices() {
  return spawnSync(process.execPath, [noticesProgram], { cwd: root, stdio: ['ignore', 2, 2] }).status ?? 1
}

/** What `/docs` shows of the documents. */
async function buildGuide() {
  const began = new Date()
  const { writeGuide } = await import('./guide-pages.mjs')
  writeGuide(join(root, 'docs'), join(dist, 'docs'))
  writeFileSync(guideStamp, '')
  utimesSync(guideStamp, began, began)
}

/** Answers vite's exit code. */
function bundle(config, logLevel) {
  const args = [bundler, 'build', '--config', config, '--logLevel', logLevel]
  return spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] }).status ?? 1
}

/** Removes what was built from sources that are gone: mocha would go on running their tests. */
function removeStale(built, source) {
  for (const entry of existsSync(built) ? readdirSync(built, { withFileTypes: true }) : []) {
    const path = join(built, entry.name)
    if (entry.isDirectory()) removeStale(path, join(source, entry.name))
    else if (!existsSync(join(source, entry.name.replace(/\.js(\.map)?$/, '.ts')))) rmSync(path)
  }
  if (existsSync(built) && readdirSync(built).length === 0) rmSync(built, { recursive: true })
}
