import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What keeps people who see, hear or move differently from using the page: violations of WCAG 2.2, levels A and AA, one a line. */
export async function barriers(page: Page): Promise<readonly string[]> {
  if (await page.evaluate(`typeof axe === 'undefined'`)) await page.evaluate(AXE)
  const { violations } = (await page.evaluate(
    // What passes is not asked for: to describe it takes as long as to find it.
    `axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations'],
    }).then(({ violations }) => ({ violations }))`,
  )) as {
    readonly violations: readonly {
      readonly id: string
      readonly help: string
      readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
    }[]
  }
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id}: ${help}\n  ${html}\n  ${failureSummary}`),
  )
}
