import { existsSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/**
 * The program as few files: main.js and cli/main.js, which tsc has made of their modules, and dist/server, where the rest lies. A start
 * loads it in a third of the time that a file for each module takes (decision 38).
 */

const root = fileURLToPath(new URL('..', import.meta.url))

/** Packages that bring files of their own beside their modules, and those that few starts need. All others are in the bundle. */
const PACKAGES = [
  'libsql',
  'tinypool',
  'isomorphic-git',
  'memfs',
  'pg',
  '@ai-sdk/anthropic',
  '@ai-sdk/google',
  '@ai-sdk/openai-compatible',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
]

/** How a module names the program of a thread beside it, as prettier writes it and as the compiler prints it. */
const PROGRAM = /new URL\(\s*(['"`])(\.[^'"`]+)\.js\1,\s*import\.meta\.url\)/g

/**
 * The programs of threads that load much: in the bundle each is one file with what it needs, and no more, though doors of rooms pass on more
 * than that.
 */
const THREADS = [
  'src/feeds/search/index/search-thread.ts',
  'src/feeds/traces/storage/trace-thread.ts',
  'src/registry/documents/document-job.ts',
  'src/run/handlers/worker/long-job-thread.ts',
].filter((path) => existsSync(join(root, path)))

export default defineConfig({
  root,
  publicDir: false,
  // As text for JSON.parse, which is much faster than code: koa's tables of media types.
  json: { stringify: true },
  ssr: { noExternal: true, external: PACKAGES },
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: false,
    target: 'es2023',
    sourcemap: true,
    rolldownOptions: {
      input: {
        main: 'src/main.ts',
        'cli/main': 'src/cli/main.ts',
        ...Object.fromEntries(THREADS.map((path) => [basename(path, '.ts'), path])),
      },
      // Modules of ours do nothing as they are loaded, so what a door passes on and a program does not use is left out of it.
      treeshake: {
        moduleSideEffects: [
          { test: /\/src\/(?!web\/|(?:cli\/)?main\.)/, external: false, sideEffects: false },
        ],
      },
      output: {
        entryFileNames: ({ name }) => (name.endsWith('main') ? 'src/[name].js' : 'server/[name].js'),
        chunkFileNames: 'server/[name]-[hash].js',
        sourcemapExcludeSources: true,
        // Without comments and white space, which would have to be read; names stay, as errors and logs show them.
        minify: { mangle: false, compress: false, codegen: { removeWhitespace: true } },
      },
    },
  },
  plugins: [
    {
      name: 'places',
      /** What a module finds beside itself (a thread's program, package.json) stays beside what tsc made of it. */
      transform(code, id) {
        const place = relative(root, id).replace(/\.ts$/, '.js')
        if (!place.startsWith('src/') || !code.includes('import.meta.url')) return
        const withThreads = code.replace(PROGRAM, (whole, _quote: string, path: string) => {
          const program = relative(root, join(dirname(id), `${path}.ts`))
          return THREADS.includes(program)
            ? `new URL('../server/${basename(path)}.js', import.meta.here)`
            : whole
        })
        return {
          code: withThreads
            .replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`)
            .replaceAll('import.meta.here', 'import.meta.url'),
          map: null,
        }
      },
    },
  ],
})
