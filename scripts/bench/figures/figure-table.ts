import { amount, digits } from './amount.ts'
import type { Change, Comparison } from './compare-figures.ts'
import type { Figure } from './figure.ts'

/** The table as the README shows it; with a comparison, what each figure was before and how it changed, and what only one run has. */
export function figureTable(figures: readonly Figure[], comparison?: Comparison): string {
  const heads = ['work', 'figure', 'rounds', 'ours', 'floor', 'goal', 'met']
  if (comparison) heads.push('before', 'change')
  const lines = [heads, heads.map(() => '---')]
  for (const figure of figures) {
    const cells = cellsOf(figure)
    if (comparison) cells.push(...changeCells(comparison.changes.get(figure.work)))
    lines.push(cells)
  }
  const table = lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
  return comparison ? table + remarks(comparison) : table
}

function cellsOf({ work, value, unit, spread, against, goal, met, note }: Figure): string[] {
  return [
    work,
    note === undefined ? amount(value, unit) : `${amount(value, unit)} (${note})`,
    spread ? `${digits(spread.least)} to ${digits(spread.most)}` : '',
    against ? amount(against.ours, against.unit) : '',
    against ? amount(against.floor, against.unit) : '',
    `${goal.is} ${amount(goal.value, unit)}`,
    met ? 'yes' : 'no',
  ]
}

function changeCells(change: Change | undefined): string[] {
  if (!change) return ['', 'new']
  const { before, percent, isBeyondSpread } = change
  if (percent === undefined) return [amount(before.value, before.unit), '']
  const text = `${percent >= 0 ? '+' : ''}${percent.toFixed(1)} %`
  return [amount(before.value, before.unit), isBeyondSpread ? `**${text}**` : text]
}

function remarks({ onlyBefore, onlyNow }: Comparison): string {
  const named = (where: string, works: readonly string[]): string =>
    works.length === 0 ? '' : `\nOnly in ${where}:\n${works.map((work) => `- ${work}\n`).join('')}`
  return (
    '\nIn bold: neither value is within what the rounds of the other run gave.\n' +
    named('the run before', onlyBefore) +
    named('this run', onlyNow)
  )
}
