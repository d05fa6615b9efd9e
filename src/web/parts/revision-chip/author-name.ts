/** The name in `Name <email>`. */
export function authorName(author: string): string {
  return author.replace(/\s*<[^<>]*>\s*$/, '') || author
}
