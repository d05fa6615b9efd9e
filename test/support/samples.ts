/** How many of a random sample are taken where `npm test` takes `usual`: SAMPLES times as many, as `npm run proof -- samples` has it. */
export function samples(usual: number): number {
  return usual * Number(process.env['SAMPLES'] ?? 1)
}
