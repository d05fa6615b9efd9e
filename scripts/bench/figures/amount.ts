/** A number with its unit, in three or four digits: `4.50 ×`, `60.4 %`, `25,295 a second`. */
export function amount(value: number, unit: string): string {
  return `${digits(value)} ${unit}`
}

/** The number alone. */
export function digits(value: number): string {
  const size = Math.abs(value)
  const fraction = Number.isInteger(value) || size >= 100 ? 0 : size >= 10 ? 1 : 2
  return value.toLocaleString('en', { minimumFractionDigits: fraction, maximumFractionDigits: fraction })
}
