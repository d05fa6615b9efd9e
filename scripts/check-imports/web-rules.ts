import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path/posix'
import type { SourceFile } from './source-file.ts'

/** What of the server's source the page takes: plain data, what a variable of a template is, and what a file is by its name. */
const SHARED = [
  'src/http/workbench/addresses.ts',
  'src/run/templates/template-variables.ts',
  'src/registry/testsets/files/file-type.ts',
]

/** The rules of the page (`src/web`): pages lay out parts, ask through `api`, and have no colour of their own. */
export function wrongInWeb(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap(({ path, imports }) =>
      imports.filter((target) => !mayImport(path, target)).map((target) => `${path} imports ${target}`),
    ),
    ...files
      .filter(
        ({ path, text }) => /\bfetch\(|\bXMLHttpRequest\b/.test(text) && !path.startsWith('src/web/api/'),
      )
      .map(({ path }) => `${path} asks the server by itself: use src/web/api`),
    ...files
      .filter(({ text }) => /dangerouslySetInnerHTML|\.innerHTML\b|\beval\(/.test(text))
      .map(({ path }) => `${path} makes a document of text: what is stored is shown as text`),
    ...styleSheets('src/web')
      .filter((path) => !path.startsWith('src/web/theme/'))
      .filter((path) => /#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(|light-dark\(/i.test(readFileSync(path, 'utf8')))
      .map((path) => `${path} has a colour of its own: use one of src/web/theme/tokens.css`),
  ]
}

/** Pages know no other pages, parts and the client know no page. The shell shows one by itself: that of signing in. */
function mayImport(path: string, target: string): boolean {
  if (!target.startsWith('src/web/')) return SHARED.includes(target)
  const page = pageOf(target)
  if (page === undefined || page === pageOf(path)) return true
  return path === 'src/web/routes.tsx' || page === 'sign-in'
}

function pageOf(path: string): string | undefined {
  return /^src\/web\/pages\/([^/]+)\//.exec(path)?.[1]
}

function styleSheets(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return styleSheets(path)
    return entry.name.endsWith('.css') ? [path] : []
  })
}
