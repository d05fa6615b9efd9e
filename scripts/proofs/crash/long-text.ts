/** Too long for the journal, and nothing that deflates. */
export function longText(n: number): string {
  let text = ''
  for (let i = 0; text.length < 450_000; i++)
    text += Math.sin(n + i)
      .toString(36)
      .slice(2)
  return text
}
