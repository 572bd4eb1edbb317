#include "support/html.hpp"

namespace mx::golden {

// Text on its ground has a contrast of at least 4.5 in both lights; what a colour says, a word or a mark says too.
const std::string_view kPageStyle = R"(
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--box:#f6f8fa;--chosen:#1a7f37;--on-chosen:#fff;
--possible:#b6dcf7;--on-possible:#0a3069;--refused:#eef1f4;--on-refused:#57606a;--raises:#f9c5c1;--on-raises:#82071e;
--passed:#0f6e56;--failed:#b93a00;--mistrusted:#f2c14e;--unmodelled:#e7e3f4;--on-unmodelled:#3d2f78}
@media (prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--soft:#9198a1;--line:#30363d;--box:#161b22;--chosen:#1f7a33;
--on-chosen:#fff;--possible:#0c3a66;--on-possible:#a5d6ff;--refused:#1c2128;--on-refused:#9198a1;--raises:#67201f;--on-raises:#ffdcd7;
--mistrusted:#d9a520;--unmodelled:#2b2740;--on-unmodelled:#cfc6f3}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:100rem;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;
overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.15rem;margin:2rem 0 .4rem;padding-top:.4rem;border-top:2px solid var(--line)}
h3{font-size:.95rem;margin:1.1rem 0 .3rem}summary{cursor:pointer;padding:.5rem 0;font-weight:600}
details{border-top:1px solid var(--line)}.soft{color:var(--soft);font-weight:400}p{margin:.3rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(24rem,100%),1fr));gap:.15rem 1.5rem;margin:.8rem 0}dl div{display:flex;gap:.6rem}
dt{flex:0 0 auto;min-width:5.2rem;max-width:45%;font-weight:600}dd{margin:0;min-width:0;color:var(--soft)}
.wide{overflow-x:auto;-webkit-overflow-scrolling:touch;margin:.4rem 0}
table{border-collapse:separate;border-spacing:2px;font-size:.78rem;line-height:1.25}
th,td{overflow-wrap:normal;padding:.2rem .4rem}th{font-weight:500;text-align:left;white-space:nowrap}thead th{text-align:center;vertical-align:bottom}
tbody th,thead th:first-child{position:sticky;left:0;background:var(--paper);font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:.72rem}
thead th{white-space:normal;max-width:9rem}
tbody th.long{white-space:normal;overflow-wrap:anywhere;min-width:24rem;max-width:24rem}
td{text-align:center;min-width:3.6rem;border-radius:3px;background:var(--box);white-space:nowrap}
td.text{text-align:left;min-width:12rem;max-width:46rem;white-space:normal}td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.empty{background:none}
td.code,code{font-family:ui-monospace,'DejaVu Sans Mono',monospace;font-size:.72rem}td.code{text-align:left}
.chosen{background:var(--chosen);color:var(--on-chosen);font-weight:700}.possible{background:var(--possible);color:var(--on-possible)}
.refused{background:var(--refused);color:var(--on-refused)}.raises{background:var(--raises);color:var(--on-raises)}
.passed{background:var(--passed);color:#fff;font-weight:700}.failed{background:var(--failed);color:#fff;font-weight:700}
.mistrusted{background:var(--mistrusted);color:#1b1f24;font-weight:700}.unmodelled{background:var(--unmodelled);color:var(--on-unmodelled)}
.shown{background:var(--refused);color:var(--ink)}.asked{font-weight:400}
.verdict{border-radius:8px;padding:.7rem 1rem;margin:.8rem 0;font-size:1.05rem}.verdict b{font-size:1.5rem;margin-right:.6rem}
.verdict.shown{border:1px solid var(--line)}
nav{display:flex;flex-wrap:wrap;gap:.2rem 1rem;margin:.6rem 0}a{color:inherit}
pre{background:var(--box);padding:.6rem;border-radius:6px;overflow-x:auto;font-size:.78rem;margin:.4rem 0}
svg{display:block}.none{position:absolute;width:0;height:0}
@media (max-width:40rem){body{padding:.6rem}tbody th,tbody th.long{min-width:7rem;max-width:7rem;white-space:normal;overflow-wrap:anywhere}
td.text{min-width:14rem}
.stack table,.stack tbody,.stack tr,.stack th,.stack td,.stack td.text{display:block;min-width:0;max-width:none}.stack thead{display:block}.stack thead tr{display:flex;gap:.9rem;border:0}
.stack tr{padding:.45rem 0;border-top:1px solid var(--line)}.stack td{text-align:left;margin:2px 0}.stack tbody th{position:static}
dl{grid-template-columns:1fr}.verdict b{display:block}}
@media print{details{break-inside:avoid}.wide{overflow:visible}}
)";

}  // namespace mx::golden
