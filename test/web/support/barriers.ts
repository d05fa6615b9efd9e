import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

/** Whether every state of every page is looked at in both themes, as `npm run proof -- web` has it; else each kind of state once, in each process. */
const IS_EVERY_STATE = process.env['WEB_THEMES'] !== undefined

/** What was looked at and found good. */
const seen = new Set<string>()

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/**
 * What keeps people who see, hear or move differently from using the page: violations of WCAG 2.2, levels A and AA, one a line. To look takes
 * as long as most of what tests do at a page, so what is made of the same parts as a page before is looked at only once.
 */
export async function barriers(page: Page): Promise<readonly string[]> {
  if (IS_EVERY_STATE) return inBothThemes(page)
  const parts = (await page.evaluate(PARTS)) as readonly string[]
  const news = parts.filter((it) => !seen.has(it))
  if (news.length === 0) return []
  const found = await violationsOf(page)
  if (found.length === 0) for (const it of news) seen.add(it)
  return found
}

async function inBothThemes(page: Page): Promise<readonly string[]> {
  const own = await violationsOf(page)
  const isDark = (await page.evaluate(`matchMedia('(prefers-color-scheme: dark)').matches`)) === true
  const [theme, other] = isDark ? (['dark', 'light'] as const) : (['light', 'dark'] as const)
  await page.emulateMedia({ colorScheme: other })
  const others = await violationsOf(page)
  await page.emulateMedia({ colorScheme: theme })
  return [...own, ...others.map((it) => `in the ${other} theme: ${it}`)]
}

/**
 * What a page is made of: each element with its classes, what it says of itself to somebody who listens, and whether it has a text, below the
 * classes of what it lies in, in these colours.
 */
const PARTS = `(() => {
  const theme = matchMedia('(prefers-color-scheme: dark)').matches + ' ' + (innerWidth < 800)
  const kind = (it) => it.tagName + '.' + (it.getAttribute('class') ?? '')
  const own = (it) => [...it.attributes]
    .filter(({ name }) => /^(?:role|aria-(?!label|controls|describedby|activedescendant|row|col|pos|set|value).*|tabindex|type|disabled|alt|lang|dir)$/.test(name))
    .map(({ name, value }) => name + '=' + (/^aria-(?:labelledby|owns|details|errormessage)$/.test(name) ? '' : value))
  const named = (it) => ['aria-label', 'title', 'placeholder', 'for'].filter((name) => it.getAttribute(name)).join()
  const all = [...document.querySelectorAll('*')].map((it) =>
    [theme, it.parentElement && kind(it.parentElement), kind(it), ...own(it), named(it), it.textContent.trim() !== ''].join(' '))
  return [...new Set(all)]
})()`

async function violationsOf(page: Page): Promise<readonly string[]> {
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
