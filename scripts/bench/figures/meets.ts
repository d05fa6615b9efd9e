import type { Goal } from './figure.ts'

/** Whether a value is what the goal asks for. */
export function meets(value: number, { is, value: wanted }: Goal): boolean {
  if (is === '=') return value === wanted
  return is === '≤' ? value <= wanted : value >= wanted
}
