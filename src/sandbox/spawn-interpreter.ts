import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Starts the process of an interpreter. It has no environment, no arguments of ours, no standard streams, one pipe (file descriptor 3),
 * may read the code it consists of and no other file, may write none, start no program, load no add-on, make no code out of strings,
 * and WebAssembly in it gets no more memory than `memoryBytes`.
 */
export function spawnInterpreter(memoryBytes: number): ChildProcess {
  const flags = [
    PERMISSION,
    // a thread of its own kills it when the server is gone
    '--allow-worker',
    ...readableFolders().map((folder) => `--allow-fs-read=${folder}`),
    '--disallow-code-generation-from-strings',
    '--no-addons',
    '--no-warnings',
    `--max-old-space-size=${HEAP_MB}`,
    `--wasm-max-mem-pages=${Math.ceil(memoryBytes / WASM_PAGE) + SPARE_PAGES}`,
  ]
  return spawn(process.execPath, [...flags, MAIN], {
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    windowsHide: true,
  })
}

/** Node 20 calls it an experiment. */
const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission')
  ? '--permission'
  : '--experimental-permission'

const MAIN = fileURLToPath(new URL('./inside/main.js', import.meta.url))

/** JavaScript's own memory: the interpreters' loaders, arguments and results. */
const HEAP_MB = 192
const WASM_PAGE = 65_536
/** So that QuickJS, which counts for itself, meets its own limit first and can say so. */
const SPARE_PAGES = 256

const PACKAGES = ['pyodide', 'quickjs-emscripten', '@swc/wasm-typescript']

/** Our code for it, and the packages; where those are links, what they point to, too. */
function readableFolders(): readonly string[] {
  const require = createRequire(import.meta.url)
  const folders = new Set([join(dirname(MAIN), sep)])
  for (const folder of foldersAbove(MAIN)) {
    folders.add(join(folder, 'node_modules', sep))
    folders.add(join(folder, 'package.json'))
  }
  for (const name of PACKAGES) {
    const file = require.resolve(name)
    folders.add(file.slice(0, file.lastIndexOf(NODE_MODULES) + NODE_MODULES.length))
  }
  return [...folders]
}

const NODE_MODULES = `${sep}node_modules${sep}`

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...foldersAbove(folder)]
}
