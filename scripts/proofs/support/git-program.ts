import { execFileSync } from 'node:child_process'

/** The real git, with nobody's own configuration; answers its output without the last line break. */
export function git(folder: string, args: readonly string[], input?: string | Buffer): string {
  return gitBytes(folder, args, input).toString().replace(/\n$/, '')
}

/**
 * The same, byte for byte. A server that makes one pack of many takes these away from under a `git fsck`, as `git gc` does; it is
 * asked again then, and what is really missing stays so.
 */
export function gitBytes(folder: string, args: readonly string[], input?: string | Buffer): Buffer {
  for (let left = args[0] === 'fsck' ? 5 : 0; ; left--) {
    try {
      return run(folder, args, input)
    } catch (error) {
      if (left === 0 || !String(error).includes('index not opened')) throw error
    }
  }
}

function run(folder: string, args: readonly string[], input?: string | Buffer): Buffer {
  return execFileSync('git', args, {
    cwd: folder,
    input,
    maxBuffer: 256 * 1024 * 1024,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TEMPLATE_DIR: '', // its sample hooks are copied with every repository
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: 'ann@example.com',
      GIT_COMMITTER_NAME: 'Ann',
      GIT_COMMITTER_EMAIL: 'ann@example.com',
    },
  })
}

/** Every object of the repository: id and kind as git lists them. */
export function allObjects(folder: string): { readonly oid: string; readonly kind: string }[] {
  return git(folder, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'])
    .split('\n')
    .map((line) => {
      const [oid = '', kind = ''] = line.split(' ')
      return { oid, kind }
    })
}
