package goldseam;

import java.util.List;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.ConfigurationContainer;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** Raises the Java that projects have compiled for to the oldest for which the compiler still does. */
public final class OldestJava extends AbstractMavenLifecycleParticipant {
    private static final List<String> NAMES =
        List.of("source", "target", "release", "testSource", "testTarget", "testRelease");

    @Override
    public void afterProjectsRead(MavenSession session) {
        String oldest = session.getUserProperties().getProperty("goldseam.oldest");
        for (MavenProject project : session.getProjects()) {
            for (String name : NAMES) {
                String told = project.getProperties().getProperty("maven.compiler." + name);
                boolean byDefault = told == null && List.of("source", "target").contains(name);
                if (byDefault || isOlder(told, oldest)) project.getProperties().setProperty("maven.compiler." + name, oldest);
            }
            for (Plugin plugin : project.getBuildPlugins()) {
                if (!plugin.getArtifactId().equals("maven-compiler-plugin")) continue;
                raise(plugin, oldest);
                plugin.getExecutions().forEach(execution -> raise(execution, oldest));
            }
        }
    }

    private static void raise(ConfigurationContainer place, String oldest) {
        if (!(place.getConfiguration() instanceof Xpp3Dom)) return;
        for (String name : NAMES) {
            Xpp3Dom written = ((Xpp3Dom) place.getConfiguration()).getChild(name);
            if (written != null && isOlder(written.getValue(), oldest)) written.setValue(oldest);
        }
    }

    private static boolean isOlder(String told, String oldest) {
        return told != null && told.trim().matches("(1\\.)?\\d+") && major(told) < major(oldest);
    }

    private static int major(String version) {
        return Integer.parseInt(version.trim().replaceFirst("^1\\.", ""));
    }
}
