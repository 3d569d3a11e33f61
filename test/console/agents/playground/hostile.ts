/** An answer with everything that a page must show as text. */
export function hostile(text: string): string {
  const elsewhere = text.split(' ')[1] ?? 'http://elsewhere.invalid';
  return [
    '# A heading',
    `<img src=x onerror="fetch('${elsewhere}/html')"><script>fetch('${elsewhere}/script')</script>`,
    `[a script](javascript:fetch('${elsewhere}/link')) [data](data:text/html,x) [a page](https://example.com/page)`,
    `![a picture](${elsewhere}/picture.png)`,
    '| name | value |\n| --- | --- |\n| `a` | **b** |',
    `right to left: \u202Egnirts\u202C and a zero: \0.`,
    `<iframe src="${elsewhere}/frame"></iframe>`,
    text.includes('long') ? 'x'.repeat(1_000_000) : '',
  ].join('\n\n');
}
