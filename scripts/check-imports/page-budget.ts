import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/** What is loaded for every page. */
const FRAME = 'src/web/main.tsx'
const API = 'src/web/api/'

/** Pages that have a budget: the modules (style sheets are some) that they load beside the frame and `api`, before anything is clicked. */
const BUDGETS: Readonly<Record<string, number>> = {
  'src/web/pages/revision/page.tsx': 45,
}

/** A page loads no more modules than its budget. */
export function pagesOverBudget(): string[] {
  const frame = modulesOf(FRAME)
  return Object.entries(BUDGETS).flatMap(([page, budget]) => {
    const own = [...modulesOf(page)].filter((path) => !frame.has(path) && !path.startsWith(API))
    if (own.length <= budget) return []
    return `${page} loads ${own.length} modules, which is more than ${budget}: ${own.sort().join(', ')}`
  })
}

/** A module with everything that it imports, types alone left out: what a bundler loads with it. */
function modulesOf(path: string, found = new Set<string>()): Set<string> {
  found.add(path)
  if (!/\.tsx?$/.test(path)) return found
  for (const [, from, bare] of readFileSync(path, 'utf8').matchAll(IMPORT)) {
    const target = join(dirname(path), from ?? bare ?? '')
    if (!found.has(target) && existsSync(target)) modulesOf(target, found)
  }
  return found
}

const IMPORT = /^(?:import|export)\b(?! type\b)[^'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm
