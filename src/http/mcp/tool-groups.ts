import { invalid } from '../../errors.ts'

/** The groups of tools, each with all tools of those before it. */
export const TOOL_GROUPS = ['read', 'author', 'deploy'] as const
export type ToolGroup = (typeof TOOL_GROUPS)[number]

/** The group of this name; refuses another name, at the place `loc`. */
export function readGroup(name: string, loc: readonly string[]): ToolGroup {
  const group = TOOL_GROUPS.find((it) => it === name)
  if (group) return group
  throw invalid(
    loc,
    `there is no group of tools ${JSON.stringify(name.slice(0, 80))}; send read, author (which includes read) or deploy ` +
      '(which includes both)',
  )
}
